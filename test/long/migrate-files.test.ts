import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as migrateByDrizzle } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { errorCode } from '../../src/engine/base/errors.ts'
import type { MigrationWait } from '../../src/engine/database/database.ts'
import { migrate } from '../../src/engine/database/migrate.ts'
import { migratePostgres } from '../../src/engine/database/migrate-postgres.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { createMigrationFolder, type MigrationFolder } from '../support/migrations.ts'

// Migrations from a temporary folder, on a database in use.

let database: TestDatabase
let files: MigrationFolder
let url: string
let sql: postgres.Sql

beforeEach(async () => {
  database = await createTestDatabase({ empty: true })
  url = database.settings.DATABASE_URL ?? ''
  sql = postgres(url, { max: 4, onnotice: () => {} })
  files = await createMigrationFolder()
})
afterEach(async () => {
  await sql.end()
  await files.remove()
  await database.drop()
})

const waits: MigrationWait[] = []
const quickly = { backoffMs: () => 100, onWait: (wait: MigrationWait) => void waits.push(wait) }
const migrateFiles = (more: { maxTries?: number } = {}) => {
  waits.length = 0
  return migratePostgres(url, {}, (run) => migrate(run, { folder: files.folder, ...quickly, ...more }))
}
const isThere = async (name: string) =>
  (await sql`select to_regclass(${name}) is not null as there`)[0]?.there as boolean
const appliedFiles = async () => (await sql`select from drizzle.__drizzle_migrations`).length

/** Begins a transaction with this statement. Returns a function that ends it. */
async function holdOpen(statement: string): Promise<() => Promise<void>> {
  const reserved = await sql.reserve()
  await reserved.unsafe(`begin; ${statement}`)
  return async () => {
    await reserved.unsafe('rollback')
    reserved.release()
  }
}

/** Reports whether a read of the table succeeds within `ms`. */
const canRead = (table: string, ms: number): Promise<boolean> =>
  sql
    .begin(async (tx) => {
      await tx.unsafe(`set local statement_timeout = ${ms}`)
      await tx.unsafe(`select from ${table}`)
    })
    .then(
      () => true,
      (error) => {
        expect(errorCode(error)).toBe('57014')
        return false
      },
    )

/** Waits until one connection waits for a lock on the table. */
const waitedFor = (table: string) =>
  expect
    .poll(async () => await sql`select from pg_locks where relation = ${table}::regclass and not granted`)
    .toHaveLength(1)

test('a file that waits for a lock does not block later readers, and is applied once it gets the lock', async () => {
  await sql`create table crowded (id integer)`
  await files.write({ '0000_widen': 'alter table crowded add column name text' })
  const end = await holdOpen('select from crowded')
  const migrating = migrateFiles()
  await waitedFor('crowded')
  // The blocking transaction stays open all the time.
  expect(await canRead('crowded', 30_000)).toBe(true)
  await expect.poll(() => waits.length).toBeGreaterThan(1)
  await end()
  await migrating
  expect(waits[0]).toEqual({ file: '0000_widen', tries: 1, pauseMs: 100 })
  expect(
    await sql`select column_name from information_schema.columns where table_name = 'crowded'`,
  ).toHaveLength(2)
})

test('control: without a lock_timeout later readers are blocked', async () => {
  await sql`create table crowded (id integer)`
  const end = await holdOpen('select from crowded')
  const altering = sql`alter table crowded add column name text`.execute()
  await waitedFor('crowded')
  expect(await canRead('crowded', 6_000)).toBe(false)
  await end()
  await altering
})

test('a file that never gets its lock fails with its name', async () => {
  await sql`create table crowded (id integer)`
  await files.write({ '0000_widen': 'alter table crowded add column name text' })
  const end = await holdOpen('select from crowded')
  await expect(migrateFiles({ maxTries: 2 })).rejects.toThrow(
    /^The migration 0000_widen could not get its locks in 2 tries/,
  )
  expect(waits).toHaveLength(1)
  await end()
  await migrateFiles()
  expect(await appliedFiles()).toBe(1)
})

test('a failed file is rolled back, and the files before it stay applied', async () => {
  const first = { '0000_one': 'create table one ()' }
  await files.write({
    ...first,
    '0001_two': 'create table two ();--> statement-breakpoint\nselect 1 / 0',
    '0002_three': 'create table three ()',
  })
  expect(await migrateFiles().catch(errorCode)).toBe('22012')
  expect(await Promise.all(['one', 'two', 'three'].map(isThere))).toEqual([true, false, false])
  expect(await appliedFiles()).toBe(1)
  await files.write({ ...first, '0001_two': 'create table two ()', '0002_three': 'create table three ()' })
  await migrateFiles()
  expect(await Promise.all(['one', 'two', 'three'].map(isThere))).toEqual([true, true, true])
  expect(await appliedFiles()).toBe(3)
})

test('a process killed during a file leaves no partial changes', async () => {
  await files.write({ '0000_slow': 'create table slow ();--> statement-breakpoint\nselect pg_sleep(600)' })
  const migrating = migrateFiles().catch((error: Error) => error)
  const sleeping = () =>
    sql`select pid from pg_stat_activity where query like '%pg_sleep(600)%' and pid <> pg_backend_pid() and state = 'active'
      and datname = current_database()`
  await expect.poll(sleeping).toHaveLength(1)
  const [{ pid } = { pid: 0 }] = await sleeping()
  await sql`select pg_terminate_backend(${pid})`
  expect(await migrating).toBeInstanceOf(Error)
  expect(await isThere('slow')).toBe(false)
  await files.write({ '0000_slow': 'create table slow ()' })
  await migrateFiles()
  expect(await isThere('slow')).toBe(true)
})

const concurrently = 'create unique index concurrently if not exists "once" on twice (id)'
const marked = `-- migrate: no transaction\n${concurrently}`

test('a file marked as without a transaction is applied once by six concurrent migrations', async () => {
  await sql`create table twice (id integer)`
  await files.write({ '0000_index': marked })
  await Promise.all(Array.from({ length: 6 }, () => migrateFiles()))
  expect(await isThere('once')).toBe(true)
  expect(await appliedFiles()).toBe(1)
})

test('control: the same file without the marker is refused', async () => {
  await sql`create table twice (id integer)`
  await files.write({ '0000_index': concurrently })
  expect(await migrateFiles().catch(errorCode)).toBe('25001')
  expect(await isThere('once')).toBe(false)
})

test('an invalid index is rebuilt, and earlier statements of its file run again', async () => {
  await sql`create table twice as select 1 as id union all select 1`
  const before = 'create table if not exists before ();--> statement-breakpoint'
  await files.write({ '0000_index': marked.replace('\n', `\n${before}\n`) })
  expect(await migrateFiles().catch(errorCode)).toBe('23505')
  expect(await isThere('before')).toBe(true)
  const isValid = async () =>
    (await sql`select indisvalid from pg_index where indexrelid = 'once'::regclass`)[0]?.indisvalid
  expect(await isValid()).toBe(false)
  expect(await appliedFiles()).toBe(0)
  await sql`delete from twice where ctid = (select min(ctid) from twice)`
  await migrateFiles()
  expect(await isValid()).toBe(true)
  expect(await appliedFiles()).toBe(1)
})

test('an unknown marker is refused before any statement runs', async () => {
  await files.write({ '0000_one': 'create table one ()', '0001_odd': '-- migrate: at night\nselect 1' })
  await expect(migrateFiles()).rejects.toThrow('0001_odd.sql has the marker “at night”')
  expect(await isThere('one')).toBe(false)
})

test('files applied by Drizzle’s migrator are not applied again, nor ours by it', async () => {
  await files.write({ '0000_one': 'create table one ()' })
  const folder = { migrationsFolder: files.folder }
  await migrateByDrizzle(drizzle(sql), folder)
  await migrateFiles()
  expect(await appliedFiles()).toBe(1)
  await files.write({ '0000_one': 'create table one ()', '0001_two': 'create table two ()' })
  await migrateFiles()
  await migrateByDrizzle(drizzle(sql), folder)
  expect(await appliedFiles()).toBe(2)
  const hashes = await sql`select hash from drizzle.__drizzle_migrations order by id`
  await sql`drop schema drizzle cascade`
  await sql`drop table one, two`
  await migrateByDrizzle(drizzle(sql), folder)
  expect(await sql`select hash from drizzle.__drizzle_migrations order by id`).toEqual(hashes)
})
