import { afterEach, beforeEach, expect, test } from 'vitest'
import { measured } from '../../src/domain/sale/report/measured.ts'
import { sampled } from '../../src/engine/telemetry/database-metrics.ts'
import { createMetrics } from '../../src/engine/telemetry/metrics.ts'
import { parseMetrics } from '../support/metrics.ts'
import { mockClock } from '../support/mock-clock.ts'

let clock: ReturnType<typeof mockClock>
beforeEach(() => {
  clock = mockClock({ isFrozen: true })
})
afterEach(() => clock.restore())

const limits = { everyMs: 10_000, timeoutMs: 20 }

test('a value is read once for all callers, and again when it is old', async () => {
  let reads = 0
  const read = sampled(async () => ++reads, limits)
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1])
  clock.advance(9_999)
  expect(await read()).toBe(1)
  clock.advance(1)
  expect(await read()).toBe(2)
})

test('a read that fails is nothing, and is not repeated at once', async () => {
  let reads = 0
  const read = sampled(async () => {
    reads++
    throw new Error('down')
  }, limits)
  expect([await read(), await read(), reads]).toEqual([null, null, 1])
})

test('a read that hangs holds up nobody, and is the only one', async () => {
  let reads = 0
  let answer = (_value: number) => {}
  const read = sampled(() => {
    reads++
    return new Promise<number>((resolve) => {
      answer = resolve
    })
  }, limits)
  expect(await Promise.all([read(), read()])).toEqual([null, null])
  clock.advance(60_000)
  expect([await read(), reads]).toEqual([null, 1])
  answer(7)
  expect([await read(), reads]).toEqual([7, 1])
  await read()
  expect(reads).toBe(2)
})

test('without a database the metrics of the process remain', async () => {
  clock.restore()
  const { registry, onWaiting } = createMetrics({
    poolUsage: () => ({}),
    isReady: async () => false,
    ...measured,
    count: async () => {
      throw new Error('down')
    },
    inspectServers: async () => {
      throw new Error('down')
    },
  })
  onWaiting('holds', 3)
  const shown = await registry.metrics()
  // In the product's words, which the engine is handed.
  expect(shown).toContain(
    '# HELP boxoffice_replica_read 1 if the catalogue is read from this replica, 0 if the primary answers for it\n',
  )
  expect(shown).toContain(
    '# HELP boxoffice_shards_unreachable Parts of the tables of sales on servers of a cluster that are out of reach\n',
  )
  const samples = parseMetrics(shown)
  const sampleOf = (wanted: string) => samples.find(({ name }) => name === wanted)?.value
  expect(sampleOf('boxoffice_database_ready')).toBe(0)
  expect(sampleOf('boxoffice_batch_waiting')).toBe(3)
  expect(sampleOf('boxoffice_jobs_due')).toBeUndefined()
  expect(sampleOf('process_resident_memory_bytes')).toBeGreaterThan(0)
})
