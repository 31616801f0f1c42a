import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { errorCode } from '../base/errors.ts'
import { instruments } from '../base/instruments.ts'
import { compareMigrations, isUnavailable, type MigrationWait, migrations, readJournal } from './database.ts'
import { unusable } from './pool/failures.ts'

/** Runs one statement without parameters on an exclusive connection, and wraps it in no transaction. Resolves to its
 *  rows. */
export type RunStatement = (statement: string) => Promise<Record<string, unknown>[]>

export type MigrateOptions = {
  /** Called each time that a file waits for a lock that another session holds. */
  onWait?: ((wait: MigrationWait) => void) | undefined
  /** Folder of the files and their journal. */
  folder?: string
  maxTries?: number
  /** Milliseconds until the next try. */
  backoffMs?: (tries: number) => number
}

// A statement that waits for a table lock blocks everybody who requests that table after it. So it gives up
// soon, and tries again later.
const lockTimeoutMs = 3_000

// About five minutes in total.
const defaultMaxTries = 20
const defaultBackoffMs = (tries: number) => Math.min(15_000, 500 * 2 ** tries)

// Lock timeout, deadlock: neither is the fault of the file.
const isLockedOut = (error: unknown) => /^(55P03|40P01)$/.test(errorCode(error) ?? '')

const marker = /^-- migrate: (.*)$/m
const noTransaction = 'no transaction'
const concurrentIndex =
  /^(?:\s|--.*\n)*create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?("[^"]+"|[a-z]\w*)/i
const isConcurrent = (statement: string) =>
  /^(?:\s|--.*\n)*(?:create|drop)\s[^(]*\bconcurrently\b/i.test(statement)

/** Reads the files of a folder, in the order of Drizzle's journal. Refuses an unknown marker. */
function readMigrations(folder: string) {
  const { entries } = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[]
  }
  // Drizzle leaves out the names.
  return readMigrationFiles({ migrationsFolder: folder }).map((file, index) => {
    const name = entries[index]?.tag ?? ''
    const mode = marker.exec(file.sql.join('\n'))?.[1]
    if (mode !== undefined && mode !== noTransaction)
      throw new Error(`${name}.sql has the marker “${mode}”: the only one is “${noTransaction}”`)
    return { ...file, name, isWhole: mode === undefined }
  })
}

type Migration = ReturnType<typeof readMigrations>[number]

const journal = 'drizzle.__drizzle_migrations'

// The key in the journal is the time of generation in milliseconds since 1970.
const journalInsert = ({ hash, folderMillis }: Migration) =>
  `insert into ${journal} (hash, created_at) values ('${hash}', ${folderMillis})`

async function readApplied(run: RunStatement): Promise<string[]> {
  const [found] = await run(`select to_regclass('${journal}') is not null as there`)
  if (!found?.there) {
    await run('create schema if not exists drizzle')
    await run(
      `create table if not exists ${journal} (id serial primary key, hash text not null, created_at bigint)`,
    )
  }
  const rows = await run(readJournal)
  return rows.map(({ migration }) => String(migration))
}

async function applyWhole(run: RunStatement, migration: Migration): Promise<void> {
  await run('begin')
  try {
    await run(`set local lock_timeout = ${lockTimeoutMs}`)
    for (const statement of migration.sql) await run(statement)
    await run(journalInsert(migration))
    await run('commit')
  } catch (error) {
    // A lost connection has ended the transaction already, and would never answer.
    if (isLockedOut(error) || !isUnavailable(error)) await run('rollback')
    throw error
  }
}

// An interrupted `create index concurrently` leaves an invalid index, which `if not exists` would accept.
async function dropUnfinished(run: RunStatement, index: string): Promise<void> {
  const unfinished = await run(
    `select from pg_index where indexrelid = to_regclass('${index}') and not indisvalid`,
  )
  if (unfinished.length > 0) await run(`drop index concurrently if exists ${index}`)
}

async function applyStatement(run: RunStatement, statement: string): Promise<void> {
  // A concurrent statement may wait long, but blocks neither reads nor writes: it needs no timeout.
  await run(`set lock_timeout = ${isConcurrent(statement) ? 0 : lockTimeoutMs}`)
  const index = concurrentIndex.exec(statement)?.[1]
  if (index) await dropUnfinished(run, index)
  await run(statement)
}

// Plans would be those of empty tables until somebody analyzes them, as after a restore.
async function analyzeNew(run: RunStatement): Promise<void> {
  const [found] = await run(`select string_agg(oid::regclass::text, ', ') as names from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples < 0 and pg_relation_size(oid) > 0`)
  if (found?.names) await run(`analyze (skip_locked) ${found.names}`)
}

/** Applies pending files in order, each in its own transaction: a file that fails is rolled back, and those
 *  before it stay. A file with the line `-- migrate: no transaction` runs statement by statement instead, for
 *  statements that PostgreSQL allows in no transaction (`concurrently`) or that should be committed in parts.
 *  Each of its statements must be safe to repeat, because the file starts over if the process dies in the
 *  middle. An unfinished index is recreated. Tables without the first file, or with another text of any, are
 *  refused. Throws with the name of the file if a lock can't be taken in `maxTries`. Then analyzes tables with rows
 *  that nobody has analyzed. The caller must hold a lock that keeps other processes from migrating at the same
 *  time. */
export async function migrate(run: RunStatement, options: MigrateOptions = {}): Promise<void> {
  const { onWait = () => {}, folder = migrations.migrationsFolder } = options
  const { maxTries = defaultMaxTries, backoffMs = defaultBackoffMs } = options

  async function retry(file: string, work: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await work()
        return
      } catch (error) {
        if (!isLockedOut(error)) throw error
        if (tries >= maxTries)
          throw new Error(
            `The migration ${file} could not get its locks in ${tries} tries: end the transaction that holds them (pg_locks shows which), and migrate again.`,
            { cause: error },
          )
        const pauseMs = backoffMs(tries)
        onWait({ file, tries, pauseMs })
        await setTimeout(pauseMs)
      }
    }
  }

  const files = readMigrations(folder)
  const { missing, areOlder } = compareMigrations(files, await readApplied(run))
  if (areOlder) throw unusable({ reason: 'TABLES_OLDER', code: undefined })
  for (const migration of missing) {
    const { name, isWhole, sql: statements } = migration
    instruments.progress?.('migrations', files.indexOf(migration), files.length)
    if (isWhole) await retry(name, () => applyWhole(run, migration))
    else {
      for (const [done, statement] of statements.entries()) {
        instruments.progress?.(name, done, statements.length)
        await retry(name, () => applyStatement(run, statement))
      }
      await run('reset lock_timeout')
      await run(journalInsert(migration))
    }
  }
  await analyzeNew(run)
}
