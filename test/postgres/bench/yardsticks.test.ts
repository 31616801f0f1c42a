import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { issueChannelKey, issueIntegrationKey } from '../../../src/domain/caller/issue-key.ts'
import { organizations } from '../../../src/domain/organization/table.ts'
import { runSql } from '../../../src/engine/database/database.ts'
import { lookupEnvelope, lookupStatements } from '../../bench/bare-lookups-sql.ts'
import { envelope, type Page, pageStatements } from '../../bench/bare-pages-sql.ts'
import { growCatalogue } from '../../bench/grow-catalogue.ts'
import { callHold, countHolds, createTargets, hold, openTargets } from '../../bench/hold-statements.ts'
import type { Ask } from '../../bench/http-client.ts'
import { checkoutAsks, lookupAsks, nestedPageAsk, pageAsks, pageParameters } from '../../bench/requests.ts'
import { disagreement } from '../../bench/same-answer.ts'
import { countSold, sellTickets } from '../../bench/sold-tickets.ts'
import { type Gateway, startGateway } from '../../support/harness.ts'
import { seedDemo } from '../../support/imports.ts'

// Checks that the bench makes before it prints a ratio, on a small catalogue and without timing.

let gateway: Gateway
let apiKey: string
const sample = { word: 'c', latitude: 41.39, longitude: 2.16, radius: 500 }

beforeAll(async () => {
  gateway = await startGateway()
  await seedDemo(gateway.db, { events: 120 })
  const all = await gateway.db.select({ id: organizations.id }).from(organizations)
  const issued = await issueChannelKey(gateway.db, {
    mode: 'live',
    name: 'bench',
    organizationIds: all.map(({ id }) => id),
  })
  apiKey = issued.key
  await rowsOf(createTargets)
  await rowsOf(openTargets)
})
afterAll(() => gateway.close())

/** Runs a statement with its values inlined in place of the parameters. */
async function rowsOf(statement: string, parameters: (string | number)[] = []) {
  const text = statement.replace(/\$(\d)/g, (_, index: string) => {
    const value = parameters[Number(index) - 1]
    return typeof value === 'number' ? `${value}::float8` : `'${String(value).replaceAll("'", "''")}'`
  })
  return runSql<Record<string, unknown>>(gateway.db, text)
}

async function ask({ method, path, headers, body }: Ask) {
  const answer = await gateway.rest(method, path, { headers, body })
  return answer.json<Record<string, unknown>>()
}

async function barePage(page: Page): Promise<unknown> {
  const parameters: Partial<Record<Page, (string | number)[]>> = pageParameters(sample)
  const [row] = await rowsOf(pageStatements[page], parameters[page])
  const [before, after] = envelope(page)
  return JSON.parse(before + row?.body + after)
}

test.each(Object.keys(pageStatements) as Page[])('the SQL page %s equals the gateway’s', async (page) => {
  expect(disagreement(await ask(pageAsks(apiKey, sample)[page]), await barePage(page))).toBe(null)
})

test('a bare hold writes the same rows as a checkout of one ticket', async () => {
  const [target] = await rowsOf('select rate_id, price_id from bench_targets where number = 1')
  const held = async () => {
    const [counts] = await rowsOf(countHolds)
    return Object.values(counts ?? {}).map(Number)
  }
  const targets = [{ rateId: String(target?.rate_id), priceId: String(target?.price_id) }]
  expect(await held()).toEqual([0, 0, 0, 0])
  for (const surface of ['rest', 'graphql'] as const)
    for (const asked of checkoutAsks(apiKey, surface, targets)) await ask(asked)
  expect(await held()).toEqual([2, 2, 2, 2])
  await gateway.db.transaction(async (tx) => {
    for (const statement of [hold.insertPayment('1', '7'), hold.insertTicket('1', '7'), hold.moveStock('1')])
      await tx.execute(sql.raw(statement))
  })
  expect(await held()).toEqual([3, 3, 3, 3])
})

test('a call of the product’s own function writes the same rows as as many checkouts', async () => {
  const [target] = await rowsOf('select rate_id, price_id from bench_targets where number = 2')
  const targets = [{ rateId: String(target?.rate_id), priceId: String(target?.price_id) }]
  const held = async () => {
    const [counts] = await rowsOf(countHolds)
    return Object.values(counts ?? {}).map(Number)
  }
  const before = await held()
  for (const asked of checkoutAsks(apiKey, 'rest', targets)) await ask(asked)
  const [called] = await rowsOf(callHold('2', 60))
  expect(called?.hold).toMatchObject({ outcomes: Array(60).fill(null), used_up: [] })
  expect(await held()).toEqual(before.map((count) => count + 61))
  // The service's checkout and the call: all that is no identifier, amount or time of their own, and which columns are null.
  const own = `'id', 'payment_id', 'channel_id', 'qr_code', 'document_token', 'page_token', 'total_amount',
    'organization_fee_amount', 'platform_fee_amount', 'created_at', 'updated_at', 'expires_at', 'language'`
  for (const table of ['payments', 'tickets', 'expiries']) {
    const key = table === 'payments' ? 'id' : 'payment_id'
    const rows = await rowsOf(`select count(*)::integer as count, to_jsonb(row) - array[${own}] as row,
        (select array_agg(name order by name) from jsonb_each(to_jsonb(row)) as field(name, value)
          where value <> 'null' and name <> 'language') as given
      from ${table} as row join expiries as hold on hold.payment_id = row.${key}
      join prices on prices.id = hold.price_id where prices.ticket_rate_id = '${target?.rate_id}' group by 2, 3`)
    expect(rows, table).toHaveLength(1)
    expect(rows[0]?.count, table).toBe(61)
  }
})

/** Runs the statements in one transaction, as the bench does. */
const inOneTransaction = (statements: string[]) =>
  gateway.db.transaction(async (tx) => {
    for (const statement of statements) await tx.execute(sql.raw(statement))
  })

test('lookups of tickets sold by SQL or held equal those of the bare server', async () => {
  await inOneTransaction(sellTickets(40))
  const [sold] = await rowsOf(countSold)
  expect(sold).toEqual({ rows: '40', counters: '40' })
  const [owner] = await rowsOf(
    'select organization_id as id from tickets group by 1 order by count(*) desc limit 1',
  )
  const organizationId = String(owner?.id)
  const { key } = await issueIntegrationKey(gateway.db, { mode: 'live', name: 'bench', organizationId })
  const found = await rowsOf(
    `select id, status from tickets where organization_id = '${organizationId}' order by id`,
  )
  expect(new Set(found.map(({ status }) => status))).toEqual(new Set(['active', 'held']))
  const ids = found.map(({ id }) => String(id))
  for (const surface of ['rest', 'graphql'] as const) {
    const answers = await Promise.all(lookupAsks(key, surface, ids).map(ask))
    const bare = await Promise.all(
      ids.map(async (id) => {
        const [row] = await rowsOf(lookupStatements[surface], [id])
        const [before, after] = lookupEnvelope(surface)
        return JSON.parse(before + row?.body + after) as unknown
      }),
    )
    expect(disagreement({ tickets: answers }, { tickets: bare })).toBe(null)
    expect(disagreement({ tickets: answers }, { tickets: bare.toReversed() })).not.toBe(null)
  }
})

test('a grown catalogue has the same first page', async () => {
  const count = async () => {
    const [counts] = await rowsOf(`select
      (select count(*) from events) as events, (select count(*) from events where end_date < now()) as ended,
      (select count(*) from ticket_rates) as rates, (select count(*) from prices) as prices,
      (select count(*) from supplements) as supplements, (select count(*) from questions) as questions,
      (select count(*) from stock) as stock`)
    return Object.fromEntries(Object.entries(counts ?? {}).map(([kind, rows]) => [kind, Number(rows)]))
  }
  const before = await count()
  const page = await ask(nestedPageAsk(apiKey))
  await inOneTransaction(growCatalogue(5))
  const five = Object.entries(before).map(([kind, rows]) => [kind, rows * 5])
  expect(await count()).toEqual({ ...Object.fromEntries(five), ended: 240 })
  // Reads the database directly, because the gateway may return coalesced data.
  expect(disagreement(page, await barePage('graphql'))).toBe(null)
  const [loose] = await rowsOf(`select
    (select count(*) from ticket_rates where event_id not in (select id from events)) as rates,
    (select count(*) from prices where ticket_rate_id not in (select id from ticket_rates)) as prices,
    (select count(*) from ticket_rates where id not in (select id from stock)) as stock`)
  expect(loose).toEqual({ rates: '0', prices: '0', stock: '0' })
})
