import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DatabaseOptions, planning } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { aCatalogue, anEvent, aRateOf } from '../support/factories.ts'
import type { TestDatabase } from '../support/harness.ts'
import { openHttpBuyers, readStockTotals } from '../support/http-buyers.ts'
import { mustStartServer, runCli, type ServerProcess } from '../support/processes.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { inDatabase } from '../support/setup/database.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'
import { type Pgbouncer, startPgbouncer } from './pgbouncer-server.ts'

// Two services in three processes with thirty connections in total, behind a PgBouncer with four server
// connections. The role owns its databases and has no other rights. The databases have other date formats
// than the service expects.

const places = 40
const buyers = 100
const startsAt = '2099-05-01T20:30:00.000Z'
const catalogue = aCatalogue({
  events: [
    anEvent({
      start_date: startsAt,
      end_date: '2099-05-02T02:00:00.000Z',
      ticket_rates: [aRateOf(places)],
    }),
  ],
})

let server: PostgresServer
let pooler: Pgbouncer
let direct: string
let sale: Sale
let service: ServerProcess

const poolerIn = (database: string) => inDatabase(pooler.url, database)
const openPooled = (database: string, directDatabaseUrl?: string, options?: DatabaseOptions) =>
  openDatabase(
    { databaseUrl: poolerIn(database), dataDir: '', databasePooler: 'transaction', directDatabaseUrl },
    options,
  )

beforeAll(async () => {
  server = await startPostgres()
  const root = postgres(server.url, { max: 1, onnotice: () => {} })
  await root.unsafe(`create role box login password 'box'`)
  for (const name of ['box', 'bare', 'hasty']) {
    await root.unsafe(`create database ${name} owner box`)
    await root.unsafe(`alter database ${name} set timezone = 'Asia/Tokyo'`)
    await root.unsafe(`alter database ${name} set datestyle = 'SQL, DMY'`)
  }
  await root.end()
  direct = inDatabase(server.url.replace(/\/\/.*@/, '//box:box@'), 'box')
  pooler = await startPgbouncer(direct, 4)
  const settings = { DATABASE_URL: pooler.url, DATABASE_POOLER: 'transaction', DIRECT_DATABASE_URL: direct }
  expect(await runCli(['migrate'], settings)).toMatchObject({ code: 0, errors: '' })
  const database: TestDatabase = {
    settings,
    open: (options) => openPooled('box', direct, options),
    drop: async () => {},
  }
  sale = await openSale(catalogue, { database, listen: true })
  service = await mustStartServer({ ...settings, WEB_CONCURRENCY: '2', RATE_LIMIT: 'off', LOG_LEVEL: 'info' })
})
afterAll(async () => {
  await service?.stop()
  await sale?.close()
  await pooler?.stop()
  await server?.stop()
})

test('a service without DATABASE_POOLER is refused by PgBouncer', async () => {
  const database = await openDatabase({ databaseUrl: pooler.url, dataDir: '' })
  const refused = await database.db.execute(sql`select 1`).catch((error: Error) => String(error.cause))
  expect(refused).toContain('unsupported startup parameter')
  await database.close()
})

/** Starts the service, and returns the reason why it is not ready, and its warnings. */
async function startedOn(settings: Record<string, string>) {
  const started = await mustStartServer(settings)
  const { reason } = (await (await fetch(`${started.url}/ready`)).json()) as { reason?: string }
  const lines = started.output().split('\n')
  await started.stop()
  return { reason, warnings: lines.filter((line) => /"msg":"DATABASE_URL leads to a pooler/.test(line)) }
}

test('a pooler that is not declared is named, where it refuses timeouts and where it ignores them', async () => {
  expect(await startedOn({ DATABASE_URL: pooler.url })).toEqual({
    reason: 'POOLER_UNDECLARED',
    warnings: [expect.stringContaining('set DATABASE_POOLER=transaction')],
  })
  // Settings that a client asks for, and that apply to none of its statements.
  const ignored = [
    ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'tcp_user_timeout'],
    ...Object.keys(planning),
    ...['idle', 'interval', 'count'].map((name) => `tcp_keepalives_${name}`),
  ]
  const lax = await startPgbouncer(inDatabase(server.url, 'box'), 4, {
    ignore_startup_parameters: ignored.join(','),
  })
  expect(await startedOn({ DATABASE_URL: lax.url })).toEqual({
    reason: undefined,
    warnings: [expect.stringContaining('set DATABASE_POOLER=transaction')],
  })
  await lax.stop()
})

test('a command names the pooler that it was sent to by mistake', async () => {
  const refused = (setting: string) => ({
    code: 1,
    output: '',
    errors: `${setting} leads to a pooler: set DATABASE_POOLER=transaction, and DIRECT_DATABASE_URL to the address of the database itself (08P01)\n`,
  })
  const settings = { DATABASE_URL: pooler.url }
  for (const command of ['migrate', 'key list'])
    expect(await runCli(command.split(' '), settings)).toEqual(refused('DATABASE_URL'))
  const both = { ...settings, DATABASE_POOLER: 'transaction', DIRECT_DATABASE_URL: pooler.url }
  expect(await runCli(['migrate'], both)).toEqual(refused('DIRECT_DATABASE_URL'))
})

test('migrations through PgBouncer are refused: they need the direct URL', async () => {
  const database = await openPooled('bare')
  await expect(database.migrate()).rejects.toThrow(/^DIRECT_DATABASE_URL: /)
  expect(await database.whyUnready()).not.toBeNull()
  await database.close()
})

test('a migration sets the timeouts and planning of the role in its database only', async () => {
  expect(await sale.database.hasStatementTimeouts()).toBe(true)
  const bare = await openPooled('bare')
  expect(await bare.hasStatementTimeouts()).toBe(false)
  await bare.close()
  const [found] = (await sale.db.execute(
    sql`select current_user as "user", current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle,
      current_setting('random_page_cost') as "randomPage",
      current_setting('enable_seqscan') as "wholeTables", current_setting('join_collapse_limit') as "joins"`,
  )) as unknown as Record<string, string>[]
  expect(found).toEqual({
    user: 'box',
    statement: '15s',
    lock: '10s',
    idle: '15s',
    randomPage: '1.1',
    wholeTables: 'off',
    joins: '1',
  })
})

test('the timeouts of the role end a statement that waits for a row', async () => {
  // A short timeout in a separate database, because a pooled connection keeps the settings it was opened
  // with.
  const owner = postgres(inDatabase(direct, 'hasty'), { max: 1 })
  await owner`create table counters as select 'rate_1' as id`
  await owner`alter role box in database hasty set lock_timeout = 200`
  const { db, close } = await openPooled('hasty')
  await owner.begin(async (held) => {
    await held`select from counters where id = 'rate_1' for update`
    const code = await db
      .execute(sql`select from counters where id = 'rate_1' for update`)
      .catch(({ cause }) => cause.code)
    expect(code).toBe('55P03')
  })
  await close()
  await owner.end()
})

test('timestamps do not depend on the date format of the database', async () => {
  const [listed, asked] = await Promise.all([
    sale.rest('GET', '/events?populate=*', { headers: sale.channel }),
    sale.graphql<{ events: { nodes: { startDate: string }[] } }>(
      '{ events(first: 50) { nodes { id startDate ticketRates { id prices { id } supplements { id } questions { id } } } } }',
      {},
      sale.channel,
    ),
  ])
  expect(listed.json().data).toMatchObject([{ start_date: startsAt, ticket_rates: [{ _id: 'rate_1' }] }])
  expect(asked.data?.events.nodes).toMatchObject([{ startDate: startsAt, ticketRates: [{ id: 'rate_1' }] }])
})

test('100 buyers with repeated requests get exactly 40 places through three processes', async () => {
  const { buy, pay, close } = openHttpBuyers(sale.channel, 50)
  const urls = [sale.url, service.url]
  const page = () =>
    fetch(`${service.url}/events?populate=*`, { headers: sale.channel }).then(({ status }) => status)
  const ask = (buyer: number, again: number) =>
    buy(urls[(buyer + again) % 2] ?? '', {
      rate: 'rate_1',
      price: 'price_1',
      surface: buyer % 4 < 2 ? 'rest' : 'graphql',
      idempotencyKey: `buyer-${buyer}`,
    })
  const asked = Array.from({ length: buyers }, (_, buyer) => Promise.all([ask(buyer, 0), ask(buyer, 1)]))
  const pages = await Promise.all(Array.from({ length: 30 }, page))
  const outcomes = await Promise.all(asked)
  expect(new Set(pages)).toEqual(new Set([200]))

  expect(outcomes.flat().filter(({ status }) => status >= 500)).toEqual([])
  const sold = outcomes.map((both) => [...new Set(both.flatMap(({ payment }) => payment?.id ?? []))])
  expect(sold.filter(({ length }) => length > 1)).toEqual([])
  expect(sold.flat()).toHaveLength(places)
  const codes = new Set(outcomes.flat().flatMap(({ code }) => code ?? []))
  expect([...codes].filter((code) => code !== 'IDEMPOTENCY_KEY_IN_USE')).toEqual(['SOLD_OUT'])

  const payments = outcomes.flatMap((both) => both.find(({ payment }) => payment)?.payment ?? [])
  const paid = await Promise.all(
    payments.slice(0, 25).map((payment, index) => pay(urls[index % 2] ?? '', payment)),
  )
  expect(new Set(paid)).toEqual(new Set([200]))
  expect(await readStockTotals(sale, 'rate_1')).toEqual({
    counters: { held: 15, sold: 25 },
    rows: { tickets: 40, payments: 40, held: 15, sold: 25 },
    payments: 40,
  })
  expect(service.output()).not.toContain('request failed')
  close()
})

test('more statements than connections all succeed, with and without parameters', async () => {
  const { db, close } = await openPooled('box')
  const answered = Array.from({ length: 200 }, async (_, index) => {
    if (index % 3 === 0) return db.transaction((tx) => tx.execute(sql`select ${index}::integer`))
    return db.execute(index % 3 === 1 ? sql`select 1` : sql`select ${index}::integer`)
  })
  expect(await Promise.all(answered)).toHaveLength(200)
  await close()
})

test('pooled connections have no named prepared statements', async () => {
  const { db, close } = await openPooled('box')
  const prepared = await Promise.all(
    Array.from({ length: 8 }, () => db.execute(sql`select name from pg_prepared_statements`)),
  )
  expect(prepared.flatMap((rows) => [...(rows as unknown as Iterable<unknown>)])).toEqual([])
  await close()
})
