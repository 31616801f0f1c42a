import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OpenDatabase } from '../src/database.ts'
import { createTestDatabase, openTestDatabase, type TestDatabase } from './harness.ts'

let empty: TestDatabase
let database: OpenDatabase

beforeEach(async () => {
  empty = await createTestDatabase({ empty: true })
  database = await empty.open()
})

afterEach(async () => {
  await database.close()
  await empty.drop()
})

const isTrue = async (condition: string): Promise<boolean> =>
  // Told by whether it divides, because the drivers shape raw rows each in its own way.
  database.db.execute(sql.raw(`select 1 / (${condition})::integer`)).then(
    () => true,
    () => false,
  )

test('a database is ready once it is migrated, and not before', async () => {
  expect(await database.ready()).toBe(false)
  await database.migrate()
  expect(await database.ready()).toBe(true)
  expect(await isTrue("to_regclass('public.events') is not null")).toBe(true)
})

test('a database that lacks the last migration is not ready', async () => {
  await database.migrate()
  await database.db.execute(
    sql`delete from drizzle.__drizzle_migrations where id = (select max(id) from drizzle.__drizzle_migrations)`,
  )
  expect(await database.ready()).toBe(false)
})

test('migrating again does nothing', async () => {
  await database.migrate()
  await database.db.execute(
    sql`insert into organizations (id, name, slug, currency) values ('org_1', 'One', 'one', 'EUR')`,
  )
  await database.migrate()
  expect(await database.ready()).toBe(true)
  expect(await isTrue('(select count(*) from organizations) = 1')).toBe(true)
  expect(
    await isTrue(
      '(select count(*) from drizzle.__drizzle_migrations) = (select count(distinct hash) from drizzle.__drizzle_migrations)',
    ),
  ).toBe(true)
})

test('a test database comes migrated, and is nobody else’s', async () => {
  const [one, other] = await Promise.all([openTestDatabase(), openTestDatabase()])
  expect(await one.ready()).toBe(true)
  await one.db.execute(
    sql`insert into organizations (id, name, slug, currency) values ('org_1', 'One', 'one', 'EUR')`,
  )
  const found = await other.db
    .execute(sql`select 1 / count(*)::integer from organizations`)
    .catch(() => 'none')
  expect(found).toBe('none')
  await Promise.all([one.close(), other.close()])
})
