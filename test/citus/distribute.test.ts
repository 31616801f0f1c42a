import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copiedTables } from '../../src/domain/caller/table.ts'
import { countBacklog } from '../../src/domain/sale/report/count-backlog.ts'
import { isDistributed, type OpenDatabase } from '../../src/engine/database/database.ts'
import { distribute } from '../../src/engine/database/distribute.ts'
import { countersOf } from '../support/checkouts.ts'
import { commandRunner } from '../support/commands.ts'
import { aCatalogueOfTwo } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { holdTickets } from '../support/tickets.ts'

// A database that has sold, and becomes a distributed one.

let database: TestDatabase
let opened: OpenDatabase
const commands = commandRunner(() => opened)

const buy = (sale: Sale, number: number, paid: boolean) =>
  holdTickets(sale, { rate: number }).then(async (checkout) => {
    if (paid) await openPageBuyer(sale).pay(checkout)
    return checkout
  })
const countRows = async (table: string) => {
  const [row] = (await opened.db.execute(
    sql.raw(`select count(*)::integer as count from ${table}`),
  )) as unknown as {
    count: number
  }[]
  return row?.count
}
// Tables of which the coordinator has rows of its own.
const copies = async () => {
  const found = (await opened.db.execute(sql`select relname as name from pg_class
    join pg_dist_partition on logicalrelid = pg_class.oid where pg_relation_size(pg_class.oid) > 0`)) as unknown as {
    name: string
  }[]
  return found.map(({ name }) => name)
}
const tables = ['stock', 'payments', 'tickets', 'changes', 'invoices', 'events', 'keys']

beforeAll(async () => {
  database = await createTestDatabase({ empty: true })
  opened = await database.open()
  await opened.migrate()
})
afterAll(async () => {
  await opened?.close()
  await database?.drop()
})

test('a database that has sold is distributed, goes on after an interruption, and sells on', async () => {
  const before = await openSale(aCatalogueOfTwo(10), { database })
  for (const number of [1, 1, 2]) await buy(before, number, true)
  await buy(before, 2, false)
  const counters = await countersOf(before)
  const { channel, integration } = before
  await before.close()
  const counts = await Promise.all(tables.map(countRows))

  // Ends after payments were copied to the servers, while the coordinator still has a copy, and then before the last
  // table, as when the connection is lost.
  const lost = distribute(async (statement) => {
    if (statement.includes("truncate_local_data_after_distributing_table('payments')"))
      throw new Error('lost')
    return (await opened.db.execute(sql.raw(statement))) as never
  }, copiedTables)
  await expect(lost).rejects.toThrow('lost')
  expect(await copies()).toEqual(['payments'])
  expect((await opened.whyUnready())?.reason).toBe('DISTRIBUTING')
  await opened.db.execute(sql`create table zones (organization_id text primary key, name text unique)`)
  expect((await commands.fail('distribute')).code).toBe(1)
  expect((await commands.run('doctor')).output).toContain('npm run distribute')
  await opened.db.execute(sql`drop table zones`)
  const first = await commands.json<{ distributed: number; reference: number; done: number }>('distribute')
  expect(first.distributed + first.reference + first.done).toBe(37)
  expect(await Promise.all(tables.map(countRows))).toEqual(counts)
  const again = await commands.json('distribute')
  expect(again).toEqual({ distributed: 0, reference: 0, done: 37 })
  expect(await commands.succeed('distribute')).toBe('The tables are distributed already.')

  expect(await opened.whyUnready()).toBeNull()
  expect(isDistributed(opened.db)).toBe(true)
  expect(await copies()).toEqual([])
  const [{ keys } = { keys: 0 }] = (await opened.db.execute(
    sql`select count(*)::integer as keys from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  )) as unknown as { keys: number }[]
  expect(keys).toBeGreaterThan(40)

  const { startGateway } = await import('../support/harness.ts')
  const gateway = await startGateway({ database })
  const after: Sale = { ...gateway, channel, integration }
  expect(await countersOf(after)).toEqual(counters)
  for (const number of [1, 2]) await buy(after, number, true)
  const onSale = (filter: boolean) => `events(filter: { onSale: ${filter} }) { totalCount }`
  const listed = await after.graphql(`{ on: ${onSale(true)} off: ${onSale(false)} }`, {}, channel)
  expect(listed).toMatchObject({ data: { on: { totalCount: 2 }, off: { totalCount: 0 } } })
  expect(await brokenInvariants(after.db)).toEqual([])
  const backlog = await countBacklog(after.db, 'sandbox')
  expect(backlog).toMatchObject({
    holds: { pending: 1, processing: 0 },
    refunds: { pending: 0, dead: 0 },
  })
  await after.close()
})
