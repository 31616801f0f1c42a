import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/engine/database/open.ts'
import { anEntry, type Checkout, checkOut } from '../support/checkouts.ts'
import { aCatalogueOfTwo } from '../support/factories.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { inDatabase } from '../support/setup/database.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'

// Synchronous standbys that are all away, as docs/operations.md tells it: commits wait in PostgreSQL without a timeout.

const statementTimeoutMs = 1_000

let server: PostgresServer
let root: postgres.Sql
let sale: Sale
beforeAll(async () => {
  server = await startPostgres({ synchronous_commit: 'on' })
  root = postgres(server.url, { max: 1, onnotice: () => {} })
  await root.unsafe('create database box')
  const databaseUrl = inDatabase(server.url, 'box')
  const settings = { DATABASE_URL: databaseUrl }
  const open = () => openDatabase({ databaseUrl, dataDir: '' }, { statementTimeoutMs })
  const opened = await open()
  await opened.migrate()
  await opened.close()
  sale = await openSale(aCatalogueOfTwo(5_000), {
    database: { settings, open, drop: async () => {} },
    statementTimeoutMs,
  })
})
afterAll(async () => {
  await root?.unsafe(`alter system reset synchronous_standby_names`)
  await root?.unsafe('select pg_reload_conf()')
  await sale?.close()
  await root?.end()
  await server?.stop()
})

async function waitFor(standbys: string): Promise<void> {
  await root.unsafe(`alter system set synchronous_standby_names = '${standbys}'`)
  await root.unsafe('select pg_reload_conf()')
  await expect
    .poll(async () => (await root`show synchronous_standby_names`)[0]?.synchronous_standby_names)
    .toBe(standbys)
}
const input = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
const headersOf = (key: string) => ({ 'idempotency-key': key })

test('commits that wait for a standby are BUSY, and are there once it is given up', async () => {
  expect((await checkOut(sale, input)).statusCode).toBe(200)
  await waitFor('ANY 1 (standby_1, standby_2)')
  const keys = Array.from({ length: 20 }, (_, number) => `key-${number}`)
  const first = await Promise.all(keys.map((key) => checkOut(sale, input, headersOf(key))))
  expect(new Set(first.map(({ statusCode, headers }) => `${statusCode} ${headers['retry-after']}`))).toEqual(
    new Set(['503 1']),
  )
  expect((await sale.rest('GET', '/ready')).statusCode).toBe(200)
  const [{ waiting } = { waiting: 0 }] = await root<{ waiting: number }[]>`
    select count(*)::integer as waiting from pg_stat_activity where wait_event = 'SyncRep'`
  expect(waiting).toBeGreaterThan(0)
  await waitFor('')
  await expect.poll(async () => (await checkOut(sale, input)).statusCode).toBe(200)
  const again = await Promise.all(keys.map((key) => checkOut(sale, input, headersOf(key))))
  const held = again.map((answer) => answer.json<{ data: Checkout }>().data.payment_id)
  expect(new Set(held).size).toBe(keys.length)
  expect(await brokenInvariants(sale.db)).toEqual([])
})
