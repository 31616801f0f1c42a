import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { databaseCode, isUnavailable, type MigrationWait, migrations } from './database.ts'

/** One connection to migrate by, which is nobody else's meanwhile. Drivers differ: this is all that is asked of them. */
export type MigrationSession = {
  /** Runs one statement without parameters, outside of any transaction but the session's own; resolves to its rows. */
  run(statement: string): Promise<Record<string, unknown>[]>
}

export type MigrateOptions = {
  /** Told each time that a file waits for a lock that somebody else holds. */
  onWait?: ((wait: MigrationWait) => void) | undefined
  /** The folder of the files and their journal. */
  folder?: string
  maxTries?: number
  /** Milliseconds until the next try after so many. */
  backoffMs?: (tries: number) => number
}

type Migration = {
  name: string
  hash: string
  /** Its key in the journal: milliseconds since 1970, when it was generated. */
  createdAt: number
  statements: string[]
  isWhole: boolean
}

// A statement that waits for a table makes everybody wait who comes for that table after it. So it waits no longer
// than this, and comes back later.
const lockTimeoutMs = 3_000

// Some five minutes of trying in all.
const defaultMaxTries = 20
const defaultBackoffMs = (tries: number) => Math.min(15_000, 500 * 2 ** tries)

// Lock not had in time, deadlock: neither is the file's fault.
const lockedCodes = new Set(['55P03', '40P01'])
const isLockedOut = (error: unknown) => lockedCodes.has(databaseCode(error) ?? '')

const marker = /^-- migrate: (.*)$/m
const noTransaction = 'no transaction'
const concurrentIndex =
  /^(?:\s|--.*\n)*create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?("[^"]+"|[a-z]\w*)/i
const isConcurrent = (statement: string) =>
  /^(?:\s|--.*\n)*(?:create|drop)\s[^(]*\bconcurrently\b/i.test(statement)

/** The files of a folder, in the order of Drizzle's journal. Refuses a marker that it does not know. */
export function readMigrations(folder: string): Migration[] {
  const { entries } = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string; when: number }[]
  }
  return entries.map(({ tag, when }) => {
    const text = readFileSync(join(folder, `${tag}.sql`), 'utf8')
    const mode = marker.exec(text)?.[1]
    if (mode !== undefined && mode !== noTransaction)
      throw new Error(`${tag}.sql has the marker “${mode}”: the only one is “${noTransaction}”`)
    return {
      name: tag,
      // As Drizzle's own migrator has it.
      hash: hash('sha256', text),
      createdAt: when,
      statements: text.split('--> statement-breakpoint'),
      isWhole: mode === undefined,
    }
  })
}

const journal = 'drizzle.__drizzle_migrations'

const noteIn = ({ hash, createdAt }: Migration) =>
  `insert into ${journal} (hash, created_at) values ('${hash}', ${createdAt})`

async function appliedIn(session: MigrationSession): Promise<Set<number>> {
  const [found] = await session.run(`select to_regclass('${journal}') is not null as there`)
  if (!found?.there) {
    await session.run('create schema if not exists drizzle')
    await session.run(
      `create table if not exists ${journal} (id serial primary key, hash text not null, created_at bigint)`,
    )
  }
  const rows = await session.run(`select created_at from ${journal}`)
  return new Set(rows.map(({ created_at }) => Number(created_at)))
}

async function applyWhole(session: MigrationSession, migration: Migration): Promise<void> {
  await session.run('begin')
  try {
    await session.run(`set local lock_timeout = ${lockTimeoutMs}`)
    for (const statement of migration.statements) await session.run(statement)
    await session.run(noteIn(migration))
    await session.run('commit')
  } catch (error) {
    // A lost connection takes the transaction with it, and would never answer.
    if (isLockedOut(error) || !isUnavailable(error)) await session.run('rollback')
    throw error
  }
}

// An index that was begun and not finished is there, invalid: `if not exists` would take it for the index itself.
async function dropUnfinished(session: MigrationSession, index: string): Promise<void> {
  const unfinished = await session.run(
    `select from pg_index where indexrelid = to_regclass('${index}') and not indisvalid`,
  )
  if (unfinished.length > 0) await session.run(`drop index concurrently if exists ${index}`)
}

async function applyStatement(session: MigrationSession, statement: string): Promise<void> {
  // A concurrent statement waits for transactions to end, and holds up neither reads nor writes meanwhile.
  await session.run(`set lock_timeout = ${isConcurrent(statement) ? 0 : lockTimeoutMs}`)
  const index = concurrentIndex.exec(statement)?.[1]
  if (index) await dropUnfinished(session, index)
  await session.run(statement)
}

/** Applies the files that the database lacks, in their order, each in a transaction of its own: one that fails leaves
 *  nothing of itself, and those before it stay. A file with the line `-- migrate: no transaction` is run statement
 *  by statement instead, for what PostgreSQL runs in no transaction (`concurrently`) or is to be committed in parts; each
 *  of its statements must be safe to run again, because a process that dies in the middle has it begin anew. An index
 *  that was left unfinished is made anew by itself.
 *  Refuses, with the name of the file, where a lock is not had in so many tries. Everybody who may do this at the same
 *  time must be kept out by a lock of the caller's. */
export async function migrate(session: MigrationSession, options: MigrateOptions = {}): Promise<void> {
  const { onWait = () => {}, folder = migrations.migrationsFolder } = options
  const { maxTries = defaultMaxTries, backoffMs = defaultBackoffMs } = options

  async function tryAgain(file: string, work: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (!isLockedOut(error)) throw error
        if (tries >= maxTries)
          throw new Error(
            `The migration ${file} had no lock on what it changes, in ${tries} tries: end the transaction that holds it (pg_locks tells which), and migrate again.`,
            { cause: error },
          )
        const pauseMs = backoffMs(tries)
        onWait({ file, tries, pauseMs })
        await setTimeout(pauseMs)
      }
    }
  }

  const files = readMigrations(folder)
  const applied = await appliedIn(session)
  for (const migration of files) {
    const { name, createdAt, isWhole, statements } = migration
    if (applied.has(createdAt)) continue
    if (isWhole) await tryAgain(name, () => applyWhole(session, migration))
    else {
      for (const statement of statements) await tryAgain(name, () => applyStatement(session, statement))
      await session.run('reset lock_timeout')
      await session.run(noteIn(migration))
    }
  }
}
