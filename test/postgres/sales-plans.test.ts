// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Amount, numberOf } from '../support/contract-input.ts'
import { explain, explainByDefaults, openSeenSale, type SeenStatement } from '../support/explain.ts'
import type { Sale } from '../support/sale.ts'
import { groupings } from '../support/sales-sums.ts'

// Query plans of sums of sales among those of many other events, for the service's exact statements.

const events = 60
const ticketsOfEach = 500

let sale: Sale
let seen: SeenStatement[]

beforeAll(async () => {
  ;({ sale, seen } = await openSeenSale(events, 1_000))
  await sale.db.execute(sql`insert into payments
    (id, channel_id, organization_id, status, provider, total_amount, currency, page_token, expires_at, paid_at)
    select 'pay_' || n, 'org_1', 'org_1', 'paid', 'sandbox', 0, 'EUR', 'token_' || n, now(), now()
    from generate_series(0, ${events - 1}::integer) as n`)
  await sale.db.execute(sql`insert into tickets
    (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id, status, qr_code, currency,
      price_amount, supplements_amount, organization_fee_amount, platform_fee_amount, warranty_amount, total_amount,
      warranty_hours, full_name, email, referral_id, activated_at, sold_on, document_token)
    select 'tkt_' || n || '_' || m, 'pay_' || n, m, 'org_1', 'org_1', 'evt_' || n, 'rate_' || n, 'price_' || n, 'active',
      'code_' || m, 'EUR', 2000, 0, 200, 100, 0, 2200, 0, 'Ana', 'ana@example.com', 'ref_' || m % 7, now(), current_date,
      'document_' || n || '_' || m
    from generate_series(0, ${events - 1}::integer) as n, generate_series(1, ${ticketsOfEach}::integer) as m`)
  await sale.db.execute(sql`vacuum analyze`)
})
afterAll(() => sale.close())

async function planOf(groupBy: string, explained: typeof explainByDefaults = explain): Promise<string> {
  const query = `{ event(by: { id: "evt_7" }) { sales(groupBy: ${groupBy}) { nodes { ticketCount net { amount currency } } } } }`
  type Found = { event: { sales: { nodes: { ticketCount: number; net: Amount }[] } } }
  const { data, errors } = await sale.graphql<Found>(query, {}, sale.integration.v2)
  expect(errors).toBeUndefined()
  const rows = data?.event.sales.nodes ?? []
  expect(rows.reduce((sum, { ticketCount }) => sum + ticketCount, 0)).toBe(ticketsOfEach)
  expect(rows.reduce((sum, { net }) => sum + numberOf(net), 0)).toBeCloseTo(ticketsOfEach * 21)
  const found = seen.findLast(({ text }) => text.includes('as gross'))
  expect(found).toBeDefined()
  return explained(sale.db, found ?? { text: '', parameters: [] })
}

test.each(groupings)('sales by %s read the tickets of their event alone', async (groupBy) => {
  const plan = await planOf(groupBy)
  expect(plan).toContain('tickets_rate_created')
  expect(plan).not.toContain('Seq Scan on tickets')
})

test('control: without the index all tickets are read', async () => {
  await sale.db.execute(sql`drop index tickets_rate_created`)
  expect(await planOf('RATE', explainByDefaults)).toContain('Seq Scan on tickets')
})
