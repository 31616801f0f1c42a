import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answersWith, type FaultService, refusedSales, startFaultService } from '../support/fault-service.ts'
import { inDatabase } from '../support/setup/database.ts'

// Faults that make wait, on a service with deadlines that a test can wait for. Nobody waits longer than they are, however
// long it takes, and it sells again as soon as it can.

const statementTimeoutMs = 1_000
const faultMs = 5 * statementTimeoutMs

let fault: FaultService
let other: postgres.Sql
beforeAll(async () => {
  fault = await startFaultService({ statementTimeoutMs })
  other = postgres(inDatabase(fault.server.url, 'tickets'), {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  })
})
afterAll(async () => {
  await other?.end({ timeout: 1 })
  await fault?.close()
})

test('connections to the database go silent, and new ones are', async () => {
  const load = await fault.runFault('connections go silent', async () => {
    fault.proxy.setMode('silent')
    await pause(faultMs)
    fault.proxy.setMode('open')
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(answersWith(load, 'lookup', 503).length).toBeGreaterThan(0)
})

test('connections to the database are reset, and new ones closed', async () => {
  const load = await fault.runFault('connections are reset and closed', async () => {
    fault.proxy.setMode('closed')
    for (let again = 0; again < 20; again++) {
      fault.proxy.reset()
      await pause(100)
    }
    fault.proxy.setMode('open')
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
})

test('somebody has the counters of a rate for long', async () => {
  const load = await fault.runFault('a locked row', async (load) => {
    await other.begin(async (held) => {
      await held`select from stock where id = 'rate_1' for update`
      await pause(faultMs / 2)
      // Another rate is sold meanwhile, and everybody looks.
      await load.waitForSales()
      const ready = await fetch(`${fault.url}/ready`)
      expect(ready.status).toBe(200)
      await pause(faultMs / 2)
      await expect.poll(() => refusedSales(load), { timeout: 30_000 }).toBeGreaterThan(0)
    })
  })
  expect(answersWith(load, 'events', 503)).toEqual([])
  expect(answersWith(load, 'lookup', 503)).toEqual([])
})

test('long statements have all connections of the pool', async () => {
  const load = await fault.runFault('all connections used up', async () => {
    await other.begin(async (held) => {
      await held`lock table ticket_rates in access exclusive mode`
      await pause(faultMs / 2)
      const began = performance.now()
      const ready = await fetch(`${fault.url}/ready`)
      expect(ready.status).toBe(200)
      expect(performance.now() - began).toBeLessThan(statementTimeoutMs)
      await pause(faultMs / 2)
    })
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
})
