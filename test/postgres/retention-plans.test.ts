// Runs in: postgres

import { type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idsFrom } from '../../src/domain/contract/ids.ts'
import { anonymizeEvent } from '../../src/domain/retention/anonymize-events.ts'
import { deletionsOf } from '../../src/domain/retention/delete-old.ts'
import { deleteUnpaid } from '../../src/domain/retention/delete-unpaid.ts'
import { findDeliveriesTo, findTicketsOfPerson } from '../../src/domain/retention/find-person.ts'
import { verify } from '../../src/domain/verify/verify.ts'
import { explain, explainInIndexOrder, type SeenStatement } from '../support/explain.ts'
import { aCatalogue, anEvent, aRateNamed } from '../support/factories.ts'
import { openTestDatabase } from '../support/harness.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Query plans of what looks for a person or for old rows, among many others, for the exact statements.

const events = 40
const ticketsOfEach = 500

let sale: Sale
const seen: SeenStatement[] = []

beforeAll(async () => {
  const database = await openTestDatabase({
    onStatement: (text, parameters) => seen.push({ text, parameters }),
  })
  const catalogue = aCatalogue({
    events: Array.from({ length: events }, (_, number) =>
      anEvent({
        _id: `evt_${number}`,
        ticket_rates: [aRateNamed(number)],
      }),
    ),
  })
  sale = await openSale(catalogue, {
    database: { settings: {}, open: async () => database, drop: async () => {} },
  })
  // Each hundredth checkout was never paid.
  await sale.db.execute(sql`insert into payments
    (id, channel_id, organization_id, status, provider, total_amount, currency, page_token, expires_at)
    select 'pay_' || n || '_' || m, channels.id, 'org_1',
      case when m % 100 = 0 then 'expired' else 'paid' end::payment_status, 'sandbox', 0, 'EUR', 'token_' || n || '_' || m, now()
    from channels, generate_series(0, ${events - 1}::integer) as n, generate_series(1, ${ticketsOfEach}::integer) as m
    where channels.name = 'Shop'`)
  await sale.db.execute(sql`insert into tickets
    (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id, status, qr_code, currency,
      price_amount, supplements_amount, organization_fee_amount, platform_fee_amount, warranty_amount, total_amount,
      warranty_hours, full_name, email, document_token, created_at)
    select replace(id, 'pay', 'tkt'), id, 0, 'org_1', channel_id, 'evt_' || split_part(id, '_', 2), 'rate_' || split_part(id, '_', 2),
      'price_' || split_part(id, '_', 2),
      case status when 'expired' then 'expired' else 'active' end::ticket_status, id, 'EUR',
      2000, 0, 200, 100, 0, 2200, 0, 'Ana', id || '@example.com', id,
      now() - interval '31 days' - split_part(id, '_', 3)::integer * interval '1 second' from payments`)
  await sale.db.execute(sql`insert into deliveries (organization_id, id, payment_id, medium, recipient)
    select organization_id, 'dlv_' || id, id, 'email', id || '@example.com' from payments where status = 'paid'`)
  await sale.db.execute(sql`vacuum analyze`)
  seen.length = 0
})
afterAll(() => sale.close())

/** Plans of the statements that work caused and whose text has a part. */
async function plansOf(
  part: string,
  work: () => Promise<unknown>,
  explained: typeof explainInIndexOrder = explain,
): Promise<string[]> {
  seen.length = 0
  await work()
  const found = seen.filter(({ text }) => text.includes(part))
  expect(found.length).toBeGreaterThan(0)
  return Promise.all(found.map((statement) => explained(sale.db, statement)))
}

const readAll = async <Item>(all: AsyncIterable<Item[]>): Promise<number> => {
  let count = 0
  for await (const page of all) count += page.length
  return count
}

test('a person is found by indexes', async () => {
  const email = 'PAY_7_7@example.com'
  const [ofTickets] = await plansOf('lower("tickets"."email")', async () =>
    expect(await readAll(findTicketsOfPerson(sale.db, email))).toBe(1),
  )
  expect(ofTickets).toContain('tickets_email_created')
  const [ofDeliveries] = await plansOf('lower("deliveries"."recipient")', async () =>
    expect(await readAll(findDeliveriesTo(sale.db, email))).toBe(1),
  )
  expect(ofDeliveries).toContain('deliveries_recipient')
})

test('attendees of an event are read in the order of an index, page by page', async () => {
  const readPages = async () => {
    const batches: number[] = []
    for await (const { tickets } of anonymizeEvent(sale.db, 'org_1', { id: 'evt_3', endDate: new Date() }))
      batches.push(tickets.length)
    expect(batches).toEqual([200, 200, 100])
  }
  const plans = await plansOf('order by "tickets"."channel_id"', readPages, explainInIndexOrder)
  expect(plans).toHaveLength(4)
  for (const plan of plans) {
    expect(plan).toContain('tickets_rate_created')
    // Those of the same millisecond are sorted.
    expect(plan).not.toMatch(/-> +Sort /)
  }
})

test('old unpaid checkouts are found by an index', async () => {
  const [plan] = await plansOf('inner join "payments"', async () =>
    expect((await deleteUnpaid(sale.db, 'org_1', 30)).payments).toBe((events - 1) * 5),
  )
  expect(plan).toContain('tickets_ended_created')
})

// Half of the rows are old, and each second one is of another organization.
async function fillTables(rows: number): Promise<void> {
  const isOld = sql`n <= ${rows / 2}::integer`
  const idOf = (daysAgo: number) => idsFrom('chg', Date.now() - daysAgo * 86_400_000)
  const idFrom = (daysAgo: number) =>
    sql`case when ${isOld} then ${idOf(daysAgo)} else ${idOf(1)} end || lpad(n::text, 16, '0')`
  const createdAt = sql`now() - case when ${isOld} then 1000 else 1 end * interval '1 day'`
  const organizationId = sql`'org_' || (1 + n % 2)`
  const fill = (into: string, columns: SQL) =>
    sale.db.execute(
      sql`insert into ${sql.raw(into)} select ${columns} from generate_series(1, ${rows}::integer) as n`,
    )
  await sale.db.execute(sql`insert into organizations (id, name, slug, currency, decimals)
    values ('org_2', 'Other', 'other', 'EUR', 2)`)
  await sale.db.execute(sql`insert into webhooks (id, channel_id, url, types, secret)
    select 'whk_' || n, channels.id, 'https://example.com', '{}', 'x' from channels, generate_series(1, 3) as n
    where name = 'Shop'`)
  await fill(
    'changes (id, type, subject_id, sequence, organization_id, data, feed_position)',
    sql`${idFrom(1_000)}, 'ticket.activated', 'tkt_' || n % 40 || '_' || n, 1, ${organizationId}, '{}', n`,
  )
  await fill(
    'webhook_deliveries (organization_id, webhook_id, change_id, status)',
    sql`${organizationId}, 'whk_' || (1 + n % 3), ${idFrom(100)}, 'delivered'`,
  )
  await fill(
    'check_ins (id, organization_id, integration_id, idempotency_key, request_hash, direction, forced, outcome, scanned_at, created_at)',
    sql`'chk_' || n, ${organizationId}, (select id from integrations limit 1), 'key_' || n, '', 'in', false, 'NOT_FOUND', now(), ${createdAt}`,
  )
  await fill(
    'provider_events (organization_id, provider, id, type, created_at)',
    sql`${organizationId}, 'stripe', 'evt_' || n, 'paid', ${createdAt}`,
  )
  await sale.db.execute(sql`vacuum analyze`)
}

test('old rows of tables that only grow are deleted by indexes', async () => {
  await fillTables(100_000)
  const settings = {
    ...{ retainUnpaidDays: null, retainPersonalMonths: null, retainMailDays: null },
    ...{
      retainWebhookDays: 30,
      retainProviderEventDays: 90,
      retainChangeMonths: 12,
      retainCheckInMonths: 24,
    },
  }
  const indexes: Record<string, string[]> = {
    webhook_deliveries: ['webhook_deliveries_webhook_id_change_id_organization_id_pk'],
    changes: ['changes_id_organization_id_pk', 'changes_of_subject_in_order'],
    check_ins: ['check_ins_organization_id_created_at_index', 'check_ins_id_organization_id_pk'],
    provider_events: [
      'provider_events_organization_id_created_at_index',
      'provider_events_provider_id_organization_id_pk',
    ],
  }
  const deletions = await deletionsOf(sale.db, 'org_1', settings)
  expect(deletions.map(({ table }) => table)).toEqual(Object.keys(indexes))
  for (const { table, deleteBatch } of deletions) {
    const plans = await plansOf(table, async () => {
      expect(await deleteBatch(), table).toBe(1_000)
    })
    for (const index of indexes[table] ?? []) expect(plans.join('\n'), table).toContain(index)
    for (const plan of plans)
      expect(plan).not.toMatch(
        /Seq Scan on (webhook_deliveries|changes|check_ins|provider_events|payments|tickets)/,
      )
  }
})

test('no invariant compares each row with each other', async () => {
  const checked = await verify(sale.db, 5_000)
  expect(checked.filter(({ broken }) => broken === null)).toEqual([])
})
