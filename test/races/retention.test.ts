// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { applyRetention, deleteOldMails } from '../../src/domain/retention/retain.ts'
import { retentionTurns } from '../../src/domain/retention/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { aRateOf } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { holdTickets } from '../support/tickets.ts'

// Several processes that delete what is old, while tickets are sold.

let database: TestDatabase
let sale: Sale
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale({ rates: [aRateOf(10_000)], database })
})
afterAll(async () => {
  await sale.close()
  await database.drop()
})

const settings = {
  retainUnpaidDays: 30,
  retainPersonalMonths: 24,
  retainWebhookDays: 30,
  retainProviderEventDays: 90,
  retainChangeMonths: 24,
  retainCheckInMonths: 24,
  retainMailDays: 30,
}

const buy = () => holdTickets(sale)

test('each old checkout is deleted once, and sales go on', async () => {
  const count = 450
  await Promise.all(Array.from({ length: count }, buy))
  await sale.db.execute(sql`update payments set status = 'expired', created_at = now() - interval '31 days'`)
  await sale.db.execute(sql`update tickets set status = 'expired', created_at = now() - interval '31 days'`)
  await sale.db.execute(sql`update stock set held = 0`)
  await buy()
  const others = await Promise.all([1, 2].map(() => database.open()))
  const done: Record<string, unknown>[] = []
  const runs = others.flatMap(({ db }) => {
    const run = {
      ...{ db, settings, mailFolder: '/nonexistent', stopping: new AbortController().signal },
      onDone: (facts: Record<string, number | string>) => void done.push(facts),
    }
    return [applyRetention(run), deleteOldMails(run)]
  })
  const [slowest] = await Promise.all([
    Promise.all(
      Array.from({ length: 60 }, async () => {
        const since = performance.now()
        await buy()
        return performance.now() - since
      }),
    ).then((times) => Math.max(...times)),
    ...runs,
  ])
  expect(done.reduce((sum, { unpaid }) => sum + Number(unpaid), 0)).toBe(count)
  expect((await sale.db.select({ id: payments.id }).from(payments)).length).toBe(61)
  expect((await sale.db.select({ id: tickets.id }).from(tickets)).length).toBe(61)
  expect(await brokenInvariants(sale.db)).toEqual([])
  // A sale that waited for a lock would wait for a batch at least, and for 10 s at most.
  expect(slowest).toBeLessThan(8_000)
  await Promise.all(others.map((other) => other.close()))
})

test('a payment that is locked is left for the next turn', async () => {
  await sale.db.execute(sql`update payments set status = 'expired'`)
  await sale.db.execute(sql`update tickets set status = 'expired', created_at = now() - interval '31 days'`)
  await sale.db.execute(sql`update stock set held = 0`)
  const run = { db: sale.db, settings, mailFolder: '/nonexistent', stopping: new AbortController().signal }
  await sale.db.transaction(async (tx) => {
    await tx.execute(sql`select from payments order by id limit 1 for update`)
    await sale.db.update(retentionTurns).set({ dueAt: sql`now()` })
    await applyRetention(run)
  })
  expect((await sale.db.select({ id: payments.id }).from(payments)).length).toBe(1)
  await sale.db.update(retentionTurns).set({ dueAt: sql`now()` })
  await applyRetention(run)
  expect(await sale.db.select({ id: payments.id }).from(payments)).toEqual([])
})
