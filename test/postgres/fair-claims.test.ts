// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliveries, isBounded } from '../../src/domain/delivery/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { claimDue } from '../../src/engine/data/leased-jobs.ts'
import { explain, type SeenStatement } from '../support/explain.ts'
import { anOrganization, aRateOf } from '../support/factories.ts'
import { openTestDatabase } from '../support/harness.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Which due jobs are claimed first, with 80,000 notices of one organization before all others: for the exact statement.

let sale: Sale
const seen: SeenStatement[] = []
beforeAll(async () => {
  const database = await openTestDatabase({
    onStatement: (text, parameters) => seen.push({ text, parameters }),
  })
  const organizations = [1, 2, 3].map((number) => anOrganization({ _id: `org_${number}` }))
  sale = await openSale({
    organizations,
    rates: [aRateOf(10)],
    database: { settings: {}, open: async () => database, drop: async () => {} },
  })
  const { db } = sale
  await db.execute(sql`insert into payments (id, channel_id, organization_id, status, provider, total_amount, currency,
      page_token, expires_at)
    select 'pay_' || n, 'org_1', 'org_' || n, 'paid', 'sandbox', 100, 'EUR', 'token_' || n, now()
    from generate_series(1, 3) as n`)
  await db.execute(sql`insert into charges (organization_id, id, payment_id, provider, reference, amount, currency)
    select 'org_' || n, 'chr_' || n, 'pay_' || n, 'sandbox', 'ref_' || n, 100, 'EUR' from generate_series(1, 3) as n`)
  const queue = (organization: number, occasion: string, count: number, secondsAgo: number) =>
    db.execute(sql`insert into deliveries (organization_id, id, payment_id, medium, recipient, occasion, due_at)
      select ${`org_${organization}`}, ${`${occasion}_${organization}_`} || n, ${`pay_${organization}`}, 'email',
        'buyer-' || n || '@example.com', ${occasion}, now() - ${secondsAgo} * interval '1 second'
      from generate_series(1, ${count}::integer) as n`)
  await queue(1, 'date:1', 80_000, 900)
  await queue(2, 'date:1', 3, 800)
  await queue(1, '', 4, 60)
  await queue(2, '', 2, 30)
  await queue(3, '', 2, 10)
  await db.execute(sql`vacuum analyze deliveries`)
}, 120_000)
afterAll(() => sale.close())

const claim = (limit: number) =>
  sale.db.transaction((tx) =>
    claimDue(tx, deliveries, { limit, leaseSeconds: 300, isLess: isBounded(deliveries) }),
  )
const nameOf = ({ occasion, organizationId }: { occasion: string; organizationId: string }) =>
  `${occasion === '' ? 'paid' : 'notice'} ${organizationId}`
const countsOf = (names: string[]) =>
  Object.fromEntries(
    [...new Set(names)].toSorted().map((name) => [name, names.filter((one) => one === name).length]),
  )

test('paid tickets go first, of each organization its share, and then notices in the same way', async () => {
  expect(countsOf((await claim(5)).map(nameOf))).toEqual({
    'paid org_1': 2,
    'paid org_2': 2,
    'paid org_3': 1,
  })
  expect(countsOf((await claim(9)).map(nameOf))).toEqual({
    ...{ 'paid org_1': 2, 'paid org_3': 1 },
    ...{ 'notice org_1': 3, 'notice org_2': 3 },
  })
  expect(countsOf((await claim(10)).map(nameOf))).toEqual({ 'notice org_1': 10 })
})

test('refunds are claimed by shares, too', async () => {
  await sale.db.execute(sql`insert into refunds (id, payment_id, charge_id, organization_id, channel_id, reason, amount,
      currency, due_at)
    select 'rfd_' || n, 'pay_' || o, 'chr_' || o, 'org_' || o, 'org_1', 'REQUESTED', 1, 'EUR',
      now() - interval '1 hour' / o
    from generate_series(1, 2) as o, generate_series(1 + 100 * (o - 1), 100 * o) as n`)
  const claimed = await claimDue(sale.db, refunds, { limit: 2, leaseSeconds: 60 })
  expect(claimed.map(({ organizationId }) => organizationId)).toEqual(['org_1', 'org_2'])
})

test('as many rows are read as are claimed, however many are due', async () => {
  const statement = seen.find(
    ({ text }) => text.includes('with recursive owners') && text.includes('occasion'),
  )
  if (!statement) throw new Error('nothing was claimed')
  const rowsOf = (plan: string) =>
    Math.max(...[...plan.matchAll(/actual [^)]*rows=(\d+)/g)].map(([, rows]) => Number(rows)))
  expect(rowsOf(await explain(sale.db, statement, '(analyze)'))).toBeLessThan(50)
  // Control: a count of all that is due is seen.
  const all = { text: `select count(*) from deliveries where status = 'pending'`, parameters: [] }
  expect(rowsOf(await explain(sale.db, all, '(analyze)'))).toBeGreaterThan(20_000)
})
