import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite'
import { migrate as migratePglite } from 'drizzle-orm/pglite/migrator'
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js'
import { migrate as migratePostgres } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import type { Config } from './config.ts'
import { lockFolder } from './lock-folder.ts'

/** PostgreSQL or the embedded one: nothing above this file knows which. */
export type Database = PgDatabase<PgQueryResultHKT>
/** A transaction, or the database where none is open. */
export type Connection = Pick<
  Database,
  'select' | 'insert' | 'update' | 'delete' | 'execute' | '$with' | 'with'
>

export type OpenDatabase = {
  db: Database
  /** Brings the tables up to date. Safe to run from many processes at once. */
  migrate(): Promise<void>
  /** Whether the database answers and its tables are up to date. */
  ready(): Promise<boolean>
  close(): Promise<void>
}

/** `onStatement` is told of each statement before it runs: that is how tests count them and look at their plans. */
export type DatabaseOptions = { onStatement?: (text: string, parameters: unknown[]) => unknown }

const migrations = { migrationsFolder: fileURLToPath(new URL('../drizzle', import.meta.url)) }
// Any number will do, as long as every version of this service takes the same one.
const migrationLock = 7_264_337

// Nobody waits for the database longer than this: a stuck statement must not hold a connection or a row.
const deadlines = {
  statement_timeout: 15_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 15_000,
}

const pool = {
  max: 10,
  connect_timeout: 10,
  connection: { ...deadlines, TimeZone: 'UTC' },
  onnotice: () => {},
  // Where BEGIN is what fills a connection's pipeline, the driver (3.4.9) doesn't reserve the connection, and the
  // transaction becomes anybody's. So no pipeline is ever full. Its types don't know the option.
  max_pipeline: 1_000_000,
}

const logger = ({ onStatement }: DatabaseOptions) =>
  onStatement && { logQuery: (text: string, parameters: unknown[]) => void onStatement(text, parameters) }

/** What tells whether a database answers and has all of the migrations that this version comes with. */
function readiness(db: Database): () => Promise<boolean> {
  const { length } = readMigrationFiles(migrations)
  // Compared inside SQL, because the drivers shape raw rows each in its own way.
  const query = sql`select 1 / (count(*) >= ${length})::integer from drizzle.__drizzle_migrations`
  return async () => {
    try {
      await db.execute(query)
      return true
    } catch {
      return false
    }
  }
}

function openPostgres(url: string, options: DatabaseOptions): OpenDatabase {
  const client = postgres(url, pool)
  const db = drizzlePostgres(client, { logger: logger(options) })
  return {
    db,
    async migrate() {
      // A connection of its own, without the deadlines: waiting for another's migration is no failure.
      const session = postgres(url, { max: 1, onnotice: () => {} })
      try {
        await session`select pg_advisory_lock(${migrationLock})`
        await migratePostgres(drizzlePostgres(session), migrations)
      } finally {
        await session.end()
      }
    },
    ready: readiness(db),
    close: () => client.end({ timeout: 5 }),
  }
}

async function openEmbedded(folder: string, options: DatabaseOptions): Promise<OpenDatabase> {
  await mkdir(folder, { recursive: true })
  const unlock = await lockFolder(folder)
  try {
    const client = await PGlite.create(join(folder, 'postgres'))
    const db = drizzlePglite(client, { logger: logger(options) })
    return {
      db,
      migrate: () => migratePglite(db, migrations),
      ready: readiness(db),
      async close() {
        await client.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

/** Opens PostgreSQL where `databaseUrl` names one, else the embedded one in `dataDir`.
 *  Refuses a data folder that another process has open, with that process's pid. */
export const openDatabase = async (
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  options: DatabaseOptions = {},
): Promise<OpenDatabase> =>
  config.databaseUrl ? openPostgres(config.databaseUrl, options) : openEmbedded(config.dataDir, options)

/** The PostgreSQL or network code of an error that a driver threw. Drizzle wraps it, and its message holds parameters. */
export function databaseCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  return undefined
}

// Serialization failure, deadlock: the same statements may well succeed when they are run again.
const transient = new Set(['40001', '40P01'])

export const isTransient = (error: unknown): boolean => transient.has(databaseCode(error) ?? '')

// Out of connections, shut down, deadline passed, lock not had in time, out of reach.
const unavailable =
  /^(53300|57P0[1-4]|57014|55P03|08\w{3}|ECONN\w+|ENOTFOUND|ETIMEDOUT|CONNECT\w+|CONNECTION_\w+)$/

/** Whether the database can't answer now, as opposed to refusing what it was asked. */
export const isUnavailable = (error: unknown): boolean =>
  isTransient(error) || unavailable.test(databaseCode(error) ?? '')
