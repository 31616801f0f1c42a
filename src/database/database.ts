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
  /** Brings the tables up to date, a transaction a file. Safe to run from many processes at once. */
  migrate(onWait?: (wait: MigrationWait) => void): Promise<void>
  /** Whether the database answers, takes writes, and has its tables up to date. Never waits behind other statements. */
  ready(): Promise<boolean>
  /** Why it is not ready; null where it is. */
  whyUnready(): Promise<Unready | null>
  /** Whether the database ends what takes too long. Over a pooler it is the role that brings the deadlines. */
  hasStatementTimeouts(): Promise<boolean>
  /** Where the catalogue may be read a moment late: a replica that answers, else `db`. */
  replica(): Database
  /** Begins to look after the replicas, and to read from them; `onStatus` is told when one goes, stays away, and comes. */
  followReplicas(onStatus: (news: ReplicaStatus) => void): Promise<void>
  close(): Promise<void>
}

/** What is told of a replica, by its place in the setting: that it is out of reach, and the code that said so where there
 *  is one; that it is read from. */
export type ReplicaStatus = { replica: number; isUp: boolean; code: string | undefined }

/** A migration that waits for a lock: its file, how often it was tried, and the milliseconds until the next try. */
export type MigrationWait = { file: string; tries: number; pauseMs: number }

/** Why a database can't be used. `code` is what its driver said, where it said something. */
export type Unready = {
  reason: 'UNREACHABLE' | 'ACCESS_REFUSED' | 'MIGRATIONS_MISSING' | 'READ_ONLY'
  code: string | undefined
}

export type DatabaseOptions = {
  /** Told of each statement before it runs: that is how tests count them and look at their plans. */
  onStatement?: (text: string, parameters: unknown[]) => unknown
  /** Milliseconds after which PostgreSQL ends a statement, 15,000 by default; waiting for a lock ends after two thirds
   *  of them. */
  statementTimeoutMs?: number
}

/** Where the migrations are that this version comes with. */
export const migrations = { migrationsFolder: fileURLToPath(new URL('../../../drizzle', import.meta.url)) }
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

const missing = /^(42P01|3F000)$/
const accessRefused = /^(28\w{3}|3D000|42501)$/

function unreadyBecause(error: unknown): Unready {
  const code = databaseCode(error)
  if (missing.test(code ?? '')) return { reason: 'MIGRATIONS_MISSING', code }
  return { reason: accessRefused.test(code ?? '') ? 'ACCESS_REFUSED' : 'UNREACHABLE', code }
}

/** What tells why a database can't be used, if it can't: whether it answers, has all of the migrations that this version
 *  comes with, and takes writes, unless it is only read. */
export function readiness(db: Database, { isOnlyRead = false } = {}): () => Promise<Unready | null> {
  const { length } = readMigrationFiles(migrations)
  const question = sql`select (select count(*) >= ${length} from drizzle.__drizzle_migrations) as "isMigrated",
    current_setting('transaction_read_only') = 'on' as "isReadOnly"`
  return async () => {
    try {
      // One driver answers with the rows, the other with an object around them.
      const answer: unknown = await db.execute(question)
      const [found] = (Array.isArray(answer) ? answer : (answer as { rows: unknown[] }).rows) as [
        { isMigrated: boolean; isReadOnly: boolean },
      ]
      if (!found.isMigrated) return { reason: 'MIGRATIONS_MISSING', code: undefined }
      return found.isReadOnly && !isOnlyRead ? { reason: 'READ_ONLY', code: undefined } : null
    } catch (error) {
      return unreadyBecause(error)
    }
  }
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

// Whether the server, or the network on the way to it, refused or ended the connection.
const connectionFailure =
  /^(08\w{3}|57P0[1-5]|E(CONN|HOST|NET|ADDR|NOTFOUND|AI_|PIPE|TIMEDOUT)\w*|CONNECT\w+|CONNECTION_\w+)$/

function* causesOf(error: unknown): Generator<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause
}

/** Whether a connection could not be made, or is over: a role that is refused, too many connections, a server that ends,
 *  a network that fails. PostgreSQL calls fatal what ends a connection, whatever its code. */
export const isConnectionFailure = (error: unknown): boolean =>
  connectionFailure.test(databaseCode(error) ?? '') ||
  [...causesOf(error)].some((cause) => 'severity' in cause && /^(FATAL|PANIC)$/.test(String(cause.severity)))

/** Whether something was to be written on a server that takes no writes, such as a primary that is one no longer. */
export const isReadOnly = (error: unknown): boolean => databaseCode(error) === '25006'

// Out of disk, memory, connections; no writes; the deadline passed; a lock not had in time.
const unavailable = /^(25006|53[1-3]00|57014|55P03)$/

/** Whether the database can't answer now, as opposed to refusing what it was asked. */
export const isUnavailable = (error: unknown): boolean =>
  isTransient(error) || unavailable.test(databaseCode(error) ?? '') || isConnectionFailure(error)
