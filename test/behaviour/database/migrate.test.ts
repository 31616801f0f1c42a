// Runs in: pglite, postgres

import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { compareMigrations, type OpenDatabase } from '../../../src/engine/database/database.ts'
import { commandRunner } from '../../support/commands.ts'
import {
  createTestDatabase,
  openTestDatabase,
  startGateway,
  type TestDatabase,
} from '../../support/harness.ts'

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
  // A division by zero stands for false, because the drivers shape raw rows differently.
  database.db.execute(sql.raw(`select 1 / (${condition})::integer`)).then(
    () => true,
    () => false,
  )

test('migrate makes an empty database ready', async () => {
  expect(await database.whyUnready()).not.toBeNull()
  await database.migrate()
  expect(await database.whyUnready()).toBeNull()
  expect(await isTrue("to_regclass('public.events') is not null")).toBe(true)
})

test('a process is ready on the tables of a later version, and not where migrations of its own are missing', async () => {
  await database.migrate()
  const gateway = await startGateway({ database: { ...empty, open: async () => database } })
  const ready = async () => {
    const { statusCode, body } = await gateway.rest('GET', '/ready')
    return [statusCode, (JSON.parse(body) as { reason?: string }).reason]
  }
  const addLater = sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 4102444800000)`
  await database.db.execute(addLater)
  expect(await ready()).toEqual([200, undefined])
  await database.db.execute(sql`delete from drizzle.__drizzle_migrations`)
  expect(await ready()).toEqual([503, 'MIGRATIONS_MISSING'])
  // As many rows as this version has migrations, and none of them.
  await database.db.execute(addLater)
  expect(await ready()).toEqual([503, 'TABLES_OLDER'])
  await gateway.app.close()
})

const olderTables =
  'The tables of this database are older than the first release, and there is no way on from them: begin with an empty database, and import the catalogue again'

test('tables that another text of a migration made are refused by migrate, commands, doctor and /ready alike', async () => {
  await database.migrate()
  await database.db.execute(sql`update drizzle.__drizzle_migrations set hash = 'edited'`)
  await expect(database.migrate()).rejects.toThrow(olderTables)
  expect(await database.whyUnready()).toEqual({ reason: 'TABLES_OLDER', code: undefined })
  const { run } = commandRunner(() => database)
  const { code, output } = await run('doctor', '--json')
  expect(code).toBe(2)
  expect(JSON.parse(output).findings.at(-1)).toEqual({
    check: 'migrations',
    level: 'broken',
    text: olderTables.replace('The', 'the'),
  })
  const gateway = await startGateway({ database: { ...empty, open: async () => database } })
  expect((await gateway.rest('GET', '/ready')).json()).toMatchObject({ reason: 'TABLES_OLDER' })
  await gateway.app.close()
})

test('migrations are compared by time and text, whatever others are there', () => {
  const own = ['a', 'b', 'c'].map((hash, index) => ({ folderMillis: index + 1, hash }))
  const judged = (...applied: string[]) => {
    const { missing, unknown, areOlder } = compareMigrations(own, applied)
    return [missing.map(({ hash }) => hash).join(''), unknown, areOlder]
  }
  expect(judged()).toEqual(['abc', 0, false])
  expect(judged('1 a')).toEqual(['bc', 0, false])
  expect(judged('3 c', '9 later', '1 a', '2 b')).toEqual(['', 1, false])
  // As many as there are, and not the same.
  expect(judged('1 a', '3 c', '9 later')).toEqual(['b', 1, false])
  expect(judged('9 later')).toEqual(['abc', 1, true])
  for (const edited of ['1 x', '2 x', '3 x'])
    expect(judged('1 a', '2 b', '3 c', edited)).toEqual(['', 0, true])
})

test('migrate twice does nothing', async () => {
  await database.migrate()
  await database.db.execute(
    sql`insert into organizations (id, name, slug, currency, decimals) values ('org_1', 'One', 'one', 'EUR', 2)`,
  )
  await database.migrate()
  expect(await database.whyUnready()).toBeNull()
  expect(await isTrue('(select count(*) from organizations) = 1')).toBe(true)
  expect(
    await isTrue(
      '(select count(*) from drizzle.__drizzle_migrations) = (select count(distinct hash) from drizzle.__drizzle_migrations)',
    ),
  ).toBe(true)
})

test('a test database is migrated and private to its test', async () => {
  const [one, other] = await Promise.all([openTestDatabase(), openTestDatabase()])
  expect(await one.whyUnready()).toBeNull()
  await one.db.execute(
    sql`insert into organizations (id, name, slug, currency, decimals) values ('org_1', 'One', 'one', 'EUR', 2)`,
  )
  const found = await other.db
    .execute(sql`select 1 / count(*)::integer from organizations`)
    .catch(() => 'none')
  expect(found).toBe('none')
  await Promise.all([one.close(), other.close()])
})

test('migrate refuses the tables of before the baseline, in plain words, and leaves them as they are', async () => {
  for (const statement of [
    'create schema drizzle',
    'create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
    "insert into drizzle.__drizzle_migrations (hash, created_at) values ('older', 1)",
    'create table organizations (id text)',
  ])
    await database.db.execute(sql.raw(statement))
  await expect(database.migrate()).rejects.toThrow(olderTables)
  expect(await database.whyUnready()).toMatchObject({ reason: 'TABLES_OLDER' })
  expect(await isTrue("to_regclass('public.events') is null")).toBe(true)
})
