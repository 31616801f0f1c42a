// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countBacklog } from '../../src/domain/sale/report/count-backlog.ts'
import { explain, type SeenStatement } from '../support/explain.ts'
import { aRateOf } from '../support/factories.ts'
import { openTestDatabase } from '../support/harness.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Counts of what waits, among much that was done: for the service's exact statement.

const done = 20_000

let sale: Sale
const seen: SeenStatement[] = []

const rows = (count: number, from = 0) => sql.raw(`from generate_series(${from + 1}, ${from + count}) as n`)

beforeAll(async () => {
  const database = await openTestDatabase({
    onStatement: (text, parameters) => seen.push({ text, parameters }),
  })
  sale = await openSale({
    rates: [aRateOf(10)],
    database: { settings: {}, open: async () => database, drop: async () => {} },
  })
  const { db } = sale
  const addPayments = (status: string, count: number, from: number) =>
    db.execute(sql`insert into payments (id, channel_id, organization_id, status, provider, total_amount,
      currency, page_token, expires_at, session_id, session_open)
      select 'pay_' || n, 'org_1', 'org_1', ${status}::payment_status, 'sandbox', 100, 'EUR', 'token_' || n,
        now() - interval '5 minutes', 'session_' || n, ${status} = 'processing'
      ${rows(count, from)}`)
  await addPayments('paid', done, 0)
  await addPayments('pending', 3, done)
  await addPayments('processing', 2, done + 3)
  await db.execute(sql`insert into charges (organization_id, id, payment_id, provider, reference, amount, currency)
    select 'org_1', 'chr_' || n, 'pay_' || n, 'sandbox', 'ref_' || n, 100, 'EUR' ${rows(done)}`)
  await db.execute(sql`insert into refunds (id, payment_id, charge_id, organization_id, channel_id, reason, status, amount, currency)
    select 'ref_' || n, 'pay_' || n, 'chr_' || n, 'org_1', 'org_1', 'REQUESTED',
      (case n when 1 then 'pending' when 2 then 'failed' else 'succeeded' end)::refund_status, 1, 'EUR' ${rows(done)}`)
  await db.execute(sql`insert into deliveries (organization_id, id, payment_id, medium, recipient, status, due_at)
    select 'org_1', 'del_' || n, 'pay_' || n, 'email', 'ana@example.com',
      (case when n <= 4 then 'pending' when n <= 9 then 'dead' else 'sent' end)::delivery_status,
      now() - interval '2 seconds' ${rows(done)}`)
  await db.execute(sql`insert into webhooks (id, channel_id, url, types, secret, failing_since)
    select 'whk_' || n, 'org_1', 'https://example.com', '{}', 'x', case n when 2 then now() end ${rows(2)}`)
  await db.execute(sql`insert into changes (id, type, subject_id, sequence, organization_id, data, feed_position, created_at)
    select 'chg_000' || n, 'payment.paid', 'pay_' || n, 1, 'org_1', '{}', case when n > 6 then n end,
      now() - interval '2 minutes' ${rows(done)}`)
  await db.execute(sql`insert into webhook_deliveries (organization_id, webhook_id, change_id, status, due_at)
    select 'org_1', 'whk_' || hook, 'chg_000' || n,
      (case when n <= 7 then 'pending' when n <= 8 then 'dead' else 'delivered' end)::webhook_delivery_status,
      now() - interval '2 minutes' ${rows(done)}, generate_series(1, 2) as hook`)
  await db.execute(sql`insert into expiries (organization_id, price_id, payment_id, expires_at)
    select organization_id, 'price_1', id, expires_at from payments where status in ('pending', 'processing')`)
  await db.execute(sql`insert into open_sessions (organization_id, provider, session_id, payment_id, due_at)
    select organization_id, provider, session_id, id, now() - interval '5 seconds' from payments where session_open`)
  // Hints of what is not due.
  const later = sql`now() + n * interval '1 minute'`
  await db.execute(sql`insert into expiries (organization_id, price_id, payment_id, expires_at)
    select 'org_1', 'price_1', 'pay_' || n, ${later} ${rows(5_000)}`)
  await db.execute(sql`insert into open_sessions (organization_id, provider, session_id, payment_id, due_at)
    select 'org_1', 'sandbox', 'later_' || n, 'pay_' || n, ${later} ${rows(5_000)}`)
  await db.execute(sql`vacuum analyze`)
}, 120_000)
afterAll(() => sale.close())

test('everything that waits is counted, and nothing of a receiver that fails', async () => {
  // Due, and not late however long the rows took.
  for (const table of ['deliveries', 'refunds'])
    await sale.db.execute(sql.raw(`update ${table} set due_at = now() where status = 'pending'`))
  await sale.db.execute(sql`update open_sessions set due_at = now() where session_id not like 'later_%'`)
  expect(await countBacklog(sale.db, 'sandbox')).toEqual({
    deliveries: { due: 4, late: 0, failing: 0, dead: 5 },
    webhooks: { due: 7, late: 7, failing: 0, dead: 2 },
    refunds: { due: 1, late: 0, failing: 0, dead: 1, pending: 1 },
    sessions: { due: 2, late: 0, failing: 0 },
    holds: { due: 5, late: 5, pending: 3, processing: 2 },
    retention: { due: 0, late: 0, failing: 0 },
    feed: { due: 6, late: 6 },
    notices: { due: 0, late: 0 },
  })
  expect((await countBacklog(sale.db, 'stripe')).sessions).toEqual({ due: 0, late: 0, failing: 0 })
})

test('it is read from indexes, whatever was done before', async () => {
  const planOf = (part: string) => {
    const statement = seen.findLast(({ text }) => text.includes(part))
    if (!statement) throw new Error('nothing was counted')
    return explain(sale.db, statement)
  }
  const plan = `${await planOf('json_build_object')} ${await planOf('as code')}`
  expect(plan).not.toMatch(
    /Seq Scan on (payments|expiries|open_sessions|refunds|deliveries|webhook_deliveries|changes)/,
  )
  // Payments are found by either index of their identifiers.
  const indexes = [...plan.matchAll(/using (\w+)/g)].map(([, name]) =>
    name?.replace(/^payments_.*/, 'payments'),
  )
  expect(new Set(indexes)).toEqual(
    new Set([
      'deliveries_due',
      'deliveries_failing',
      'deliveries_dead',
      'webhook_deliveries_due',
      'webhook_deliveries_status',
      'refunds_due',
      'refunds_failing',
      'refunds_failed',
      'open_sessions_provider_due_at_index',
      'open_sessions_failing',
      'expiries_expires_at_index',
      'payments',
      'changes_without_position',
      'events_moved',
    ]),
  )
})

test('a count stops at 10,000', async () => {
  await sale.db.execute(sql`update deliveries set status = 'dead' where status = 'sent'`)
  expect((await countBacklog(sale.db, 'sandbox')).deliveries?.dead).toBe(10_000)
})
