// Runs in: long, first

import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { useContendedService } from '../support/contended-service.ts'
import { answersWith, refusedSales } from '../support/fault-service.ts'

// Faults that take long: repeated restarts of the server, and blocked statements with the default timeouts, of
// which an answer's is the longest, 15.5 seconds. Each logs a summary.
const longerThanTimeoutsMs = 20_000

const service = useContendedService()

test('the service recovers from ten restarts of PostgreSQL in a row', async () => {
  const soldAgain: number[] = []
  const load = await service.fault.runFault('restarted ten times', async ({ waitForSales }) => {
    for (let again = 0; again < 10; again++) {
      await service.fault.server.restart(again % 3 === 2 ? 'immediate' : 'fast')
      soldAgain.push(await waitForSales())
    }
  })
  console.log(`sold again after ${soldAgain.map((seconds) => seconds.toFixed(1)).join(', ')} s`)
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(Math.max(...soldAgain)).toBeLessThan(15)
})

test('connections that are silent for longer than all timeouts are given up', async () => {
  const load = await service.fault.runFault('connections go silent', async () => {
    service.fault.proxy.setMode('silent')
    await pause(longerThanTimeoutsMs)
    service.fault.proxy.setMode('open')
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(answersWith(load, 'lookup', 503).length).toBeGreaterThan(0)
})

test('a stock row locked for longer than all timeouts refuses sales of its rate and no reads', async () => {
  const load = await service.fault.runFault('a locked row', async (load) => {
    await service.locker.begin(async (held) => {
      await held`set local idle_in_transaction_session_timeout = 0`
      await held`select from stock where id = 'rate_1' for update`
      await pause(longerThanTimeoutsMs / 2)
      await load.waitForSales()
      await pause(longerThanTimeoutsMs / 2)
    })
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(answersWith(load, 'events', 503)).toEqual([])
})

test('statements that block all connections for longer than all timeouts are refused', async () => {
  const load = await service.fault.runFault('all connections used up', async () => {
    await service.locker.begin(async (held) => {
      await held`lock table ticket_rates in access exclusive mode`
      await pause(longerThanTimeoutsMs)
    })
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
})
