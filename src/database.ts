import { fileURLToPath } from 'node:url'
import { type SQL, sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'

/** PostgreSQL or the embedded one: nothing above this file knows which. */
export type Database = PgDatabase<PgQueryResultHKT>
/** A transaction, or the database where none is open. */
export type Connection = Pick<
  Database,
  'select' | 'insert' | 'update' | 'delete' | 'execute' | '$with' | 'with' | '_'
>

export type OpenDatabase = {
  db: Database
  /** Brings the tables up to date. Safe to run from many processes at once. */
  migrate(): Promise<void>
  /** Whether the database answers and its tables are up to date. */
  ready(): Promise<boolean>
  /** Whether the database ends what takes too long. Over a pooler it is the role that brings the deadlines. */
  hasDeadlines(): Promise<boolean>
  /** Where the catalogue may be read a moment late: a replica that answers, else `db`. */
  replica(): Database
  /** Begins to look after the replicas, and to read from them; `onNews` is told when one goes, stays away, and comes. */
  followReplicas(onNews: (news: ReplicaNews) => void): Promise<void>
  close(): Promise<void>
}

/** What is told of a replica, by its place in the setting: that it is out of reach, and the code that said so where there
 *  is one; that it is read from. */
export type ReplicaNews = { replica: number; isUp: boolean; code: string | undefined }

/** `onStatement` is told of each statement before it runs: that is how tests count them and look at their plans. */
export type DatabaseOptions = { onStatement?: (text: string, parameters: unknown[]) => unknown }

/** Where the migrations are that this version comes with. */
export const migrations = { migrationsFolder: fileURLToPath(new URL('../drizzle', import.meta.url)) }
/** What Drizzle tells `onStatement` by. */
export const logger = ({ onStatement }: DatabaseOptions) =>
  onStatement && { logQuery: (text: string, parameters: unknown[]) => void onStatement(text, parameters) }

/** Whether the database answers, and that a condition holds. */
export const isTrue = (db: Database, condition: SQL): Promise<boolean> =>
  // Told by whether it divides, because the drivers shape raw rows each in its own way.
  db.execute(sql`select 1 / (${condition})::integer`).then(
    () => true,
    () => false,
  )

/** What tells whether a database answers and has all of the migrations that this version comes with. */
export function readiness(db: Database): () => Promise<boolean> {
  const { length } = readMigrationFiles(migrations)
  return () => isTrue(db, sql`(select count(*) >= ${length} from drizzle.__drizzle_migrations)`)
}

/** The PostgreSQL or network code of an error that a driver threw. Drizzle wraps it, and its message holds parameters. */
export function databaseCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  return undefined
}

// Serialization failure, deadlock: the same statements may well succeed when they are run again.
const transient = new Set(['40001', '40P01'])

export const isTransient = (error: unknown): boolean => transient.has(databaseCode(error) ?? '')

/** Whether a row was refused because there is one with its key already. */
export const isDuplicate = (error: unknown): boolean => databaseCode(error) === '23505'

// Out of connections, shut down, deadline passed, lock not had in time, out of reach.
const unavailable =
  /^(53300|57P0[1-4]|57014|55P03|08\w{3}|ECONN\w+|ENOTFOUND|ETIMEDOUT|CONNECT\w+|CONNECTION_\w+)$/

/** Whether the database can't answer now, as opposed to refusing what it was asked. */
export const isUnavailable = (error: unknown): boolean =>
  isTransient(error) || unavailable.test(databaseCode(error) ?? '')
