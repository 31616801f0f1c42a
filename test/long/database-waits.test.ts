import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { useContendedService } from '../support/contended-service.ts'
import { answersWith, refusedSales } from '../support/fault-service.ts'

// Faults that block statements, with short timeouts. However long a fault lasts, no request waits longer than
// its timeout, and the service sells again as soon as it can.

const statementTimeoutMs = 1_000
const faultMs = 5 * statementTimeoutMs

const service = useContendedService({ statementTimeoutMs })

test('requests fail in time while existing and new connections are silent', async () => {
  const load = await service.fault.runFault('connections go silent', async () => {
    service.fault.proxy.setMode('silent')
    await pause(faultMs)
    service.fault.proxy.setMode('open')
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(answersWith(load, 'lookup', 503).length).toBeGreaterThan(0)
})

test('requests fail in time while connections are reset and new ones closed', async () => {
  const load = await service.fault.runFault('connections are reset and closed', async () => {
    service.fault.proxy.setMode('closed')
    for (let again = 0; again < 20; again++) {
      service.fault.proxy.reset()
      await pause(100)
    }
    service.fault.proxy.setMode('open')
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
})

test('a locked stock row refuses sales of its rate and nothing else', async () => {
  const load = await service.fault.runFault('a locked row', async (load) => {
    await service.locker.begin(async (held) => {
      await held`select from stock where id = 'rate_1' for update`
      await pause(faultMs / 2)
      // Other rates are sold meanwhile, and all reads succeed.
      await load.waitForSales()
      const ready = await fetch(`${service.fault.url}/ready`)
      expect(ready.status).toBe(200)
      await pause(faultMs / 2)
      await expect.poll(() => refusedSales(load), { timeout: 30_000 }).toBeGreaterThan(0)
    })
  })
  expect(answersWith(load, 'events', 503)).toEqual([])
  expect(answersWith(load, 'lookup', 503)).toEqual([])
})

test('requests fail in time while blocked statements hold all connections', async () => {
  const load = await service.fault.runFault('all connections used up', async () => {
    await service.locker.begin(async (held) => {
      await held`lock table ticket_rates in access exclusive mode`
      await pause(faultMs / 2)
      const began = performance.now()
      const ready = await fetch(`${service.fault.url}/ready`)
      expect(ready.status).toBe(200)
      expect(performance.now() - began).toBeLessThan(statementTimeoutMs)
      await pause(faultMs / 2)
    })
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
})
