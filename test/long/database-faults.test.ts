// Runs in: long, first

import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  answersWith,
  type FaultService,
  refusedSales,
  saleStatuses,
  servicePids,
  startFaultService,
  terminateAll,
} from '../support/fault-service.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

// Database faults under load. The service survives, answers every request, sells again by itself, and has
// stored what it acknowledged exactly once.

let fault: FaultService
beforeAll(async () => {
  fault = await startFaultService()
})
afterAll(() => fault?.close())

const ready = async () => (await fetch(`${fault.url}/ready`)).json()
const busy = (statuses: { status: number }[]) => statuses.filter(({ status }) => status === 503).length

test('the service recovers from a restart and a crash of PostgreSQL', async () => {
  const load = await fault.runFault('restarted twice', async ({ waitForSales }) => {
    await fault.server.restart('fast')
    await waitForSales()
    await fault.server.restart('immediate')
  })
  expect(busy(load.answers)).toBeGreaterThan(0)
})

test('the service recovers from repeated termination of all connections', async () => {
  const load = await fault.runFault('all backends terminated ten times', async () => {
    for (let again = 0; again < 10; again++) {
      await terminateAll(fault.admin)
      await pause(150)
    }
  })
  expect(busy(load.answers)).toBeGreaterThan(0)
})

test('the service is not ready without database connections, and recovers', async () => {
  const load = await fault.runFault('no connections left', async () => {
    await fault.admin`alter role box connection limit 0`
    await terminateAll(fault.admin)
    await pause(1_500)
    expect(await ready()).toEqual({ status: 'not ready', reason: 'TOO_MANY_CONNECTIONS' })
    await fault.admin`alter role box connection limit -1`
  })
  expect(busy(load.answers)).toBeGreaterThan(0)
})

test('a read-only primary refuses sales and serves reads, and the service recovers', async () => {
  const load = await fault.runFault('read-only primary', async ({ answers }) => {
    await fault.admin`alter system set default_transaction_read_only = on`
    await fault.admin`select pg_reload_conf()`
    await pause(500)
    const before = await servicePids(fault.admin)
    const listed = answers.length
    await expect.poll(ready, { timeout: 5_000 }).toEqual({ status: 'not ready', reason: 'READ_ONLY' })
    await pause(6_000)
    // Reads succeed, and connections are replaced, because the address may point to a new primary by now.
    expect(
      answers.slice(listed).filter(({ kind, status }) => kind === 'events' && status === 200).length,
    ).toBeGreaterThan(0)
    expect((await servicePids(fault.admin)).filter((pid) => before.includes(pid)).length).toBeLessThan(
      before.length,
    )
    await fault.admin`alter system reset default_transaction_read_only`
    await fault.admin`select pg_reload_conf()`
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
})

test('a full disk refuses sales and serves reads, and the service recovers', async () => {
  const disk = await mountSmallDisk(fault)
  const load = await fault.runFault(`disk full (${disk.how})`, async ({ answers }) => {
    await disk.fill()
    const before = answers.length
    const refused = () => refusedSales({ answers: answers.slice(before) })
    await expect.poll(refused, { timeout: 30_000 }).toBeGreaterThan(20)
    // A few sales may still fit. After that each one is refused without waiting.
    const lastStatuses = () => new Set(saleStatuses({ answers }).slice(-20))
    await expect.poll(lastStatuses, { timeout: 30_000 }).toEqual(new Set([503]))
    await disk.free()
  })
  expect(answersWith(load, 'events', 200).length).toBeGreaterThan(0)
  await disk.remove()
})
