import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answersWith, type FaultService, refusedSales, startFaultService } from '../support/fault-service.ts'
import { inDatabase } from '../support/setup/database.ts'

// The faults that take minutes: a server that is restarted again and again, and those that make wait, with the deadlines
// that the service is shipped with. Each says what it did.

let fault: FaultService
let other: postgres.Sql
beforeAll(async () => {
  fault = await startFaultService()
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

test('PostgreSQL is restarted ten times in a row', async () => {
  const soldAgain: number[] = []
  const load = await fault.runFault('restarted ten times', async ({ waitForSales }) => {
    for (let again = 0; again < 10; again++) {
      await fault.server.restart(again % 3 === 2 ? 'immediate' : 'fast')
      soldAgain.push(await waitForSales())
    }
  })
  console.log(`sold again after ${soldAgain.map((seconds) => seconds.toFixed(1)).join(', ')} s`)
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(Math.max(...soldAgain)).toBeLessThan(15)
})

test('connections go silent for longer than anybody waits', async () => {
  const load = await fault.runFault('connections go silent', async () => {
    fault.proxy.setMode('silent')
    await pause(40_000)
    fault.proxy.setMode('open')
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(answersWith(load, 'lookup', 503).length).toBeGreaterThan(0)
})

test('somebody has the counters of a rate for longer than anybody waits', async () => {
  const load = await fault.runFault('a locked row', async (load) => {
    await other.begin(async (held) => {
      await held`set local idle_in_transaction_session_timeout = 0`
      await held`select from stock where id = 'rate_1' for update`
      await pause(20_000)
      await load.waitForSales()
      await pause(20_000)
    })
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(answersWith(load, 'events', 503)).toEqual([])
})

test('long statements have all connections for longer than anybody waits', async () => {
  const load = await fault.runFault('all connections used up', async () => {
    await other.begin(async (held) => {
      await held`lock table ticket_rates in access exclusive mode`
      await pause(40_000)
    })
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
})
