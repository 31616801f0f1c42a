import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { eq } from 'drizzle-orm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { access } from '../../../src/domain/caller/access.ts'
import type { Caller } from '../../../src/domain/caller/caller.ts'
import { events } from '../../../src/domain/event/table.ts'
import { createResponseCache } from '../../../src/engine/cache/response-cache.ts'
import { invalidateShared } from '../../../src/engine/database/shared-invalidation.ts'
import { aCatalogue, anEvent } from '../../support/factories.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { sharedSale } from '../../support/sale.ts'

const bound = 40

const catalogue = aCatalogue({ events: [anEvent({ _id: 'evt_1' })] })
const sale = sharedSale(catalogue, { settings: { SHARED_READS_MS: String(bound) } })

const caller: Caller = { kind: 'channel', channelId: 'chn_1', organizationIds: ['org_1'], mode: 'live' }
const answer = (body: Buffer | string, isShareable = true) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(body),
  isShareable,
})

/** A read that returns its call number once that call is ended, which may be before it begins. */
function aRead() {
  const ends: (() => void)[] = []
  const ended = new Set<number>()
  const run = vi.fn(async () => {
    const turn = run.mock.calls.length
    if (!ended.has(turn))
      await new Promise<void>((resolve) => {
        ends[turn] = resolve
      })
    return answer(String(turn))
  })
  const end = (turn: number) => {
    ended.add(turn)
    ends[turn]?.()
  }
  return { run, end }
}

test('response cache shows a change of another process within the bound', async () => {
  const names = async () => {
    const rest = await sale.rest('GET', '/events', { headers: sale.channel })
    const graphql = await sale.graphql<{ events: { nodes: { name: string }[] } }>(
      '{ events { nodes { name } } }',
      {},
      sale.channel,
    )
    return [rest.json().data[0].name, graphql.data?.events.nodes[0]?.name]
  }
  await names()
  await sale.db.update(events).set({ name: 'Otra' }).where(eq(events.id, 'evt_1'))
  await wait(bound + 5)
  expect(await names()).toEqual(['Otra', 'Otra'])
})

test.each([0, bound])(
  'response cache runs six reads at a time and starts the next when one ends, bound %i',
  async (ms) => {
    const reads = createResponseCache(sale.db, ms, access)
    const { run, end } = aRead()
    const all = Array.from({ length: 8 }, (_, index) => reads.read(caller, `page ${index}`, run))
    await wait(1)
    expect(run).toHaveBeenCalledTimes(6)
    end(3)
    await all[2]
    await wait(1)
    expect(run).toHaveBeenCalledTimes(7)
    for (const turn of [1, 2, 4, 5, 6, 7]) end(turn)
    await all[6]
    await wait(1)
    end(8)
    expect((await Promise.all(all)).map(({ body }) => String(body))).toEqual('12345678'.split(''))
  },
)

test('response cache counts the bound from the start of a read', async () => {
  const reads = createResponseCache(sale.db, 60_000, access)
  const clock = mockClock()
  onTestFinished(clock.restore)
  const { run, end } = aRead()
  const first = reads.read(caller, 'page', run)
  const joined = reads.read(caller, 'page', run)
  clock.advance(60_000)
  const second = reads.read(caller, 'page', run)
  end(2)
  end(1)
  expect((await Promise.all([first, joined, second])).map(({ body }) => String(body))).toEqual([
    '1',
    '1',
    '2',
  ])
  // Took longer than the bound, so it is stale on arrival.
  const slow = reads.read(caller, 'slow page', run)
  clock.advance(60_000)
  end(3)
  await slow
  const next = reads.read(caller, 'slow page', run)
  end(4)
  expect(String((await next).body)).toBe('4')
})

test('response cache neither joins nor keeps a read begun before an invalidation', async () => {
  const reads = createResponseCache(sale.db, 60_000, access)
  const { run, end } = aRead()
  const before = reads.read(caller, 'page', run)
  invalidateShared(sale.db)
  const after = reads.read(caller, 'page', run)
  end(2)
  expect(String((await after).body)).toBe('2')
  end(1)
  expect(String((await before).body)).toBe('1')
  expect(String((await reads.read(caller, 'page', run)).body)).toBe('2')
  invalidateShared(sale.db)
  const last = reads.read(caller, 'page', run)
  invalidateShared(sale.db)
  end(3)
  await last
  end(4)
  expect(String((await reads.read(caller, 'page', run)).body)).toBe('4')
})

test('response cache: when a coalesced read fails or is private, the other callers run it themselves', async () => {
  const reads = createResponseCache(sale.db, 60_000, access)
  const run = vi
    .fn(async () => answer('good'))
    .mockRejectedValueOnce(new Error('broken'))
    .mockResolvedValueOnce(answer('own', false))
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => reads.read(caller, 'page', run)))
  expect(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? String(outcome.value.body) : 'failed')),
  ).toEqual(['failed', 'own', 'good'])
  expect(run).toHaveBeenCalledTimes(3)
})

test('response cache compresses a body once for all callers', async () => {
  const reads = createResponseCache(sale.db, 60_000, access)
  const body = 'page '.repeat(1000)
  const asked = await Promise.all([1, 2].map(() => reads.read(caller, 'page', async () => answer(body))))
  const encoded = await Promise.all(asked.map((read) => read.encoded('gzip')))
  expect(encoded[0]).toBe(encoded[1])
  expect(gunzipSync(encoded[0] ?? '').toString()).toBe(body)
})

test('response cache holds 16 MB in all encodings and evicts the least recently used', async () => {
  const reads = createResponseCache(sale.db, 60_000, access)
  const megabyte = randomBytes(2 ** 20)
  const run = vi.fn(async () => answer(megabyte))
  const read = (page: number) => reads.read(caller, `page ${page}`, run)
  const readAll = async () => {
    for (let page = 0; page < 10; page++) await read(page)
  }
  await readAll()
  // Random bytes do not shrink.
  for (let page = 0; page < 5; page++) await (await read(page)).encoded('gzip')
  await readAll()
  expect(run).toHaveBeenCalledTimes(10)
  await (await read(9)).encoded('gzip')
  for (let page = 9; page > 0; page--) await read(page)
  expect(run).toHaveBeenCalledTimes(10)
  await read(0)
  expect(run).toHaveBeenCalledTimes(11)
})
