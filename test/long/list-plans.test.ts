// Runs in: long, first

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explain, openSeenSale, type SeenStatement } from '../support/explain.ts'
import type { Sale } from '../support/sale.ts'

// Query plans of lists among a million tickets, for the service's exact statements: every filter and order
// reads a bounded number of them, from an index.

const ticketCount = Number(process.env.LISTED_TICKETS ?? 1_000_000)
const rateCount = 100
const perPayment = 4

let sale: Sale
let seen: SeenStatement[]

beforeAll(async () => {
  ;({ sale, seen } = await openSeenSale(rateCount, null, { statementTimeoutMs: 600_000 }))
  // Built once at the end, indexes take a quarter of the time.
  const indexes = await sale.db
    .select({ name: sql<string>`indexname`, definition: sql<string>`indexdef` })
    .from(sql`pg_indexes`)
    .where(sql`tablename = 'tickets' and indexname not in (select conname from pg_constraint)`)
  expect(indexes).toHaveLength(10)
  for (const { name } of indexes) await sale.db.execute(sql`drop index ${sql.identifier(name)}`)
  await sale.db.execute(sql`alter table tickets disable trigger all`)
  const payments = ticketCount / perPayment
  await sale.db.execute(sql`insert into payments
    (id, channel_id, organization_id, status, provider, total_amount, currency, page_token, created_at, expires_at, paid_at)
    select 'pay_' || n, 'org_1', 'org_1', 'paid', 'sandbox', 0, 'EUR', 'token_' || n,
      now() - n * interval '1 second', now(), now()
    from generate_series(1, ${payments}::integer) as n`)
  await sale.db.execute(sql`insert into tickets
    (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id, status, sale_type, qr_code,
      currency, price_amount, supplements_amount, organization_fee_amount, platform_fee_amount, warranty_amount,
      total_amount, warranty_hours, full_name, search_name, email, phone, referral_id, created_at, activated_at,
      updated_at, document_token)
    select 'tkt_' || n || '_' || m, 'pay_' || n, m, 'org_1', 'org_1', 'evt_' || n % ${rateCount}::integer,
      'rate_' || n % ${rateCount}::integer, 'price_' || n % ${rateCount}::integer,
      (case when n % 1000 = 0 then 'cancelled' when n % 500 = 1 then 'expired' else 'active' end)::ticket_status,
      'invitation', 'code_' || n || '_' || m, 'EUR', 0, 0, 0, 0, 0, 0, 0, 'Ana ' || n, 'ana ' || n,
      'ana' || n % 50000 || '@example.com', '+34' || 600000000 + n, 'ref_' || n % 50, now() - n * interval '1 second',
      case when n % 500 <> 1 then now() - n * interval '1 second' end, now() - n * interval '1 second',
      'document_' || n || '_' || m
    from generate_series(1, ${payments}::integer) as n, generate_series(0, ${perPayment - 1}::integer) as m`)
  await sale.db.execute(sql`alter table tickets enable trigger all`)
  await sale.db.execute(sql`insert into invoices
    (id, organization_id, kind, year, number, reference, payment_id, amount, currency)
    select 'inv_' || n, 'org_1', 'invoice', 2026, n, 'F2026-' || lpad(n::text, 6, '0'), 'pay_' || n, 0, 'EUR'
    from generate_series(1, ${payments / 10}::integer) as n`)
  await sale.db.transaction(async (tx) => {
    await tx.execute(sql`set local maintenance_work_mem = '1GB'`)
    for (const { definition } of indexes) await tx.execute(sql.raw(definition))
  })
  await sale.db.execute(sql`vacuum analyze`)
})
afterAll(() => sale?.close())

/** Plan of a list with its numbers of rows, after the statement has been run. */
async function planOf(name: string, args: string): Promise<string> {
  seen.length = 0
  const query = `{ ${name}${args && `(${args})`} { nodes { id } } }`
  const { data, errors } = await sale.graphql<Record<string, { nodes: unknown[] }>>(
    query,
    {},
    sale.integration.v2,
  )
  expect(errors).toBeUndefined()
  expect(data?.[name]?.nodes.length).toBeGreaterThan(0)
  const found = seen.find(({ text }) => text.includes('with parts as materialized'))
  expect(found).toBeDefined()
  const { text = '', parameters = [] } = found ?? {}
  return explain(sale.db, { text: `(analyze, costs off, timing off, summary off) ${text}`, parameters })
}

/** Most tickets that a scan of a plan reads, those that a filter removes included, and most rows that a
 *  node sorts at once: an incremental sort sorts those of the same millisecond. */
function countsIn(plan: string) {
  let [read, sorted, loops, rows, isScan] = [0, 0, 0, 0, false]
  for (const line of plan.split('\n')) {
    const actual = line.match(/actual rows=([\d.]+) loops=(\d+)/)
    const removed = line.match(/Rows Removed by (?:Filter|Index Recheck): (\d+)/)
    if (actual) {
      loops = Number(actual[2])
      rows = Number(actual[1]) * loops
      isScan = /Scan.* on tickets/.test(line)
      if (/(?<!Incremental )Sort\b/.test(line)) sorted = Math.max(sorted, rows)
    } else if (removed) rows += Number(removed[1]) * loops
    if (isScan) read = Math.max(read, rows)
  }
  return { read, sorted }
}

const idsOf = (kind: string) => JSON.stringify(Array.from({ length: rateCount }, (_, n) => `${kind}_${n}`))
const before = () => new Date(Date.now() - 10_000_000).toISOString()
const lists: [name: string, args: () => string, index: string][] = [
  ['tickets', () => '', 'tickets_created'],
  ['tickets', () => 'orderBy: CREATED_ASC', 'tickets_created'],
  ['tickets', () => 'last: 50', 'tickets_created'],
  ['tickets', () => `filter: { paid: { from: "${before()}" } }`, 'tickets_created'],
  ['tickets', () => 'filter: { eventIds: "evt_7" }', 'tickets_event_created'],
  ['tickets', () => 'filter: { ticketRateIds: "rate_7" }', 'tickets_rate_created'],
  ['tickets', () => `filter: { eventIds: ${idsOf('evt')} }`, 'tickets_event_created'],
  ['tickets', () => `filter: { ticketRateIds: ${idsOf('rate')}, status: CANCELLED }`, 'tickets_rate_created'],
  ['tickets', () => 'filter: { status: [CANCELLED, EXPIRED] }', 'tickets_created'],
  ['tickets', () => 'filter: { paymentId: "pay_7" }', 'tickets_payment_id_position_index'],
  ['tickets', () => 'filter: { status: CANCELLED }', 'tickets_ended_created'],
  ['tickets', () => 'filter: { status: EXPIRED }', 'tickets_ended_created'],
  ['tickets', () => 'filter: { status: ACTIVATED }', 'tickets_created'],
  ['tickets', () => 'filter: { saleType: INVITATION }', 'tickets_created'],
  ['tickets', () => 'filter: { referralId: "ref_7" }', 'tickets_referral_created'],
  ['tickets', () => 'filter: { email: "ANA7@example.com" }', 'tickets_email_created'],
  ['tickets', () => 'filter: { code: "code_7_1" }', 'tickets_code_of_event'],
  ['tickets', () => 'filter: { name: "Ana 77" }', 'tickets_name'],
  ['tickets', () => 'filter: { phone: "34 6000" }', 'tickets_phone'],
  ['payments', () => '', 'tickets_created'],
  ['payments', () => 'filter: { eventIds: "evt_7" }', 'tickets_event_created'],
  ['payments', () => 'filter: { email: "ana7@example.com" }', 'tickets_email_created'],
  ['payments', () => 'filter: { status: PAID }', 'tickets_created'],
  ['payments', () => 'filter: { status: [PAID, PENDING] }', 'tickets_created'],
  ['payments', () => 'filter: { invoiceReference: "F2026-000007" }', 'invoices_in_series'],
  [
    'payments',
    () => 'filter: { invoiceReference: "F2026-000007", status: PAID }',
    'tickets_payment_id_position_index',
  ],
]

// A filter without an index of its own may look through 10,000 tickets of each of two channels.
const maxRead = 20_002

test.each(lists)('%s(%s) reads from %s', async (name, args, index) => {
  const plan = await planOf(name, args())
  expect(plan).toContain(index)
  expect(plan).not.toMatch(/Seq Scan on tickets/)
  const { read, sorted } = countsIn(plan)
  expect(read, plan).toBeLessThanOrEqual(maxRead)
  expect(sorted, plan).toBeLessThanOrEqual(1_000)
})

test('control: without the index of names, more tickets are read', async () => {
  await sale.db.execute(sql`drop index tickets_name`)
  const { read } = countsIn(await planOf('tickets', 'filter: { name: "Ana 77" }'))
  expect(read).toBeGreaterThan(maxRead)
})
