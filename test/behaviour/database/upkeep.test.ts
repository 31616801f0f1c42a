// Runs in: pglite, postgres

import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { startJobs } from '../../../src/app/jobs.ts'
import { sandboxProvider } from '../../../src/domain/payment/sandbox.ts'
import { type OpenDatabase, planning, runSql } from '../../../src/engine/database/database.ts'
import { inspectTables } from '../../../src/engine/database/inspect.ts'
import { commandRunner } from '../../support/commands.ts'
import { openTestDatabase } from '../../support/harness.ts'
import { shortenPauses } from '../../support/quick-pauses.ts'

// Statistics and dead rows: autovacuum looks after them on PostgreSQL, a job on the embedded database.

let database: OpenDatabase
beforeEach(async () => {
  database = await openTestDatabase()
  // The tests are what autovacuum would be.
  await database.db.execute(sql`alter table expiries set (autovacuum_enabled = off)`)
})
afterEach(() => database.close())

const isEmbedded = inject('database').kind === 'pglite'
const rows = 20_000

// In one statement, whose counts are told as soon as it ends.
const fillHolds = (then = '') =>
  database.db.execute(
    sql.raw(`do $$ begin
      perform pg_stat_force_next_flush();
      insert into expiries (organization_id, price_id, payment_id, expires_at)
        select 'org_1', 'price_1', 'pay_' || n, now() + interval '1 day' from generate_series(1, ${rows}) as n;
      ${then} end $$`),
  )

const neglected = () => inspectTables(database.db)
const examineTables = async () => {
  const { output } = await commandRunner(() => database).run('doctor', '--json')
  const { findings } = JSON.parse(output) as { findings: { check: string; level: string; text: string }[] }
  return findings.flatMap(({ check, level, text }) => (check === 'tables' ? `${level}: ${text}` : []))
}

const read = async <Value>(expression: string): Promise<Value | undefined> =>
  (await runSql<{ value: Value }>(database.db, `select ${expression} as value`))[0]?.value
const isAnalyzed = () => read(`exists (select from pg_stats where tablename = 'expiries')`)

test('doctor names a table that was never analyzed, and migrate analyzes it', async () => {
  await database.migrate()
  expect(await isAnalyzed()).toBe(false)
  expect(await neglected()).toEqual([])
  await fillHolds()
  expect(await neglected()).toEqual(['expiries (never analyzed)'])
  expect(await examineTables()).toEqual([
    'attention: tables in need of vacuum or analyze: expiries (never analyzed) (docs/operations.md, Autovacuum)',
  ])
  await database.migrate()
  expect(await isAnalyzed()).toBe(true)
  expect(await neglected()).toEqual([])
})

test('doctor names a table whose dead rows pile up', async () => {
  await fillHolds('delete from expiries;')
  await database.db.execute(sql`analyze expiries`)
  await expect.poll(neglected).toEqual([`expiries (dead rows: ${rows})`])
  await database.db.execute(sql`vacuum expiries`)
  await expect.poll(neglected).toEqual([])
})

test('sessions plan with the settings of the service', async () => {
  for (const [name, value] of Object.entries(planning))
    expect(await read(`current_setting('${name}')`)).toBe(String(value))
})

const runJobs = () => {
  shortenPauses()
  const { db, keepUp: upkeep } = database
  const senders = { email: null, whatsapp: null, perHour: 1000, onDead: () => {} }
  return startJobs(
    { db, provider: sandboxProvider, senders, privateWebhooks: false, isAlone: isEmbedded, upkeep },
    (error, job) => expect.fail(`${job}: ${error}`),
  )
}

// Bytes that the next start would read again after a crash.
const written = '(select (pg_current_wal_insert_lsn() - redo_lsn)::float8 from pg_control_checkpoint())'
const kept = `(select n_dead_tup = 0 and last_analyze is not null from pg_stat_user_tables where relname = 'expiries')`
const pages = `pg_relation_size('expiries') / 8192`

test('a job vacuums, analyzes and checkpoints the embedded database, and leaves PostgreSQL to itself', async () => {
  if (!isEmbedded) return expect(database.keepUp).toBeUndefined()
  await fillHolds(`update expiries set price_id = 'price_2';`)
  expect(await read<number>(written)).toBeGreaterThan(8e6)
  const before = await read<number>(pages)
  const stop = runJobs()
  await expect.poll(() => read(kept)).toBe(true)
  await expect.poll(() => read<number>(written)).toBeLessThan(8e6)
  // New rows take the place of dead ones.
  await database.db.execute(sql`update expiries set price_id = 'price_1'`)
  expect(await read(pages)).toBe(before)
  await stop()
})
