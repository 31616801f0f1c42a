import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answersWith, type FaultService, refusedSales, startFaultService } from '../support/fault-service.ts'
import { type Pgbouncer, startPgbouncer } from './pgbouncer-server.ts'

// A suspended PgBouncer behaves like a hanging machine: its connections stay open but silent.

const statementTimeoutMs = 1_000

let pooler: Pgbouncer
let fault: FaultService
beforeAll(async () => {
  fault = await startFaultService({
    statementTimeoutMs,
    async through(address) {
      pooler = await startPgbouncer(address, 4)
      return pooler.url
    },
  })
})
afterAll(async () => {
  await fault?.close()
  await pooler?.stop()
})

test('the service recovers after PgBouncer was suspended for longer than all timeouts', async () => {
  const load = await fault.runFault('PgBouncer stopped and continued', async () => {
    pooler.signal('SIGSTOP')
    await pause(5 * statementTimeoutMs)
    pooler.signal('SIGCONT')
  })
  expect(refusedSales(load)).toBeGreaterThan(0)
  expect(answersWith(load, 'lookup', 503).length).toBeGreaterThan(0)
})
