import { fileURLToPath } from 'node:url'
import { type SQL, sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { errorCode } from '../shared/errors.ts'
import { perOwner } from '../shared/make-once.ts'
import { isConnectionFailure, type Unready, unreadyBecause } from './pool/failures.ts'
import type { PoolUsage } from './pool/pool.ts'

/** Settings of the planner, in each session of either database. Index lookups are as cheap as they are in memory and on an
 *  SSD. By the server's 4, a checkout or a lookup reads whole tables of a catalogue of some hundred rates, which takes two to
 *  three times as long. An address may say otherwise (`?random_page_cost=4`). */
export const planning = {
  random_page_cost: 1.1,
  enable_seqscan: 'off',
}

/** Numbers of tables that a run has distributed, copied to every server, or found done. */
export type Distribution = { distributed: number; reference: number; done: number }

/** Comment that `distribute` leaves on the table of payments once all tables are distributed. */
export const distributedComment = 'distributed by organization_id'
/** Comment that is there while it runs, and after it was interrupted. */
export const distributingComment = 'being distributed'

/** PostgreSQL or the embedded database: nothing above this folder knows which. */
export type Database = PgDatabase<PgQueryResultHKT>
/** Opens the database for a command that uses its tables alone. */
export type OpenTables = () => Promise<Database>
/** A transaction, or the database outside of one. */
export type Connection = Pick<
  Database,
  'select' | 'insert' | 'update' | 'delete' | 'execute' | '$with' | 'with' | '_'
>

export type OpenDatabase = {
  db: Database
  /** Applies pending migrations, each file in its own transaction. Safe to run concurrently. */
  migrate(onWait?: (wait: MigrationWait) => void): Promise<void>
  /** Distributes the tables over a Citus cluster: see `distribute`. */
  distribute(): Promise<Distribution>
  /** Reads the whole embedded database as one moment has it, as a compressed archive. PostgreSQL has tools of its own. */
  dump(): Promise<Buffer>
  /** Does one short step of the upkeep that a server does by itself, if one is due. Absent on PostgreSQL. */
  keepUp?(): Promise<void>
  /** Resolves to the reason why the database is not ready; null if it answers, accepts writes, and is fully
   *  migrated. Never waits behind other statements. */
  whyUnready(): Promise<Unready | null>
  /** Reports whether the database ends statements that take too long. Behind a pooler the role sets the
   *  timeouts. */
  hasStatementTimeouts(): Promise<boolean>
  /** Returns a database for catalogue reads, which may lag behind: a replica that is up, else `db`. Absent without
   *  replicas. */
  replica?(): Database
  /** Starts to monitor the replicas and to read from them. `onStatus` is called when one goes down, stays
   *  down, or comes up. Absent without replicas. */
  followReplicas?(onStatus: (status: ReplicaStatus) => void): Promise<void>
  /** Returns the use of each pool by the name of its database, `primary` or `replica_1`; none for the embedded
   *  database. */
  poolUsage(): Record<string, PoolUsage>
  close(): Promise<void>
}

/** Status of a replica, numbered by its position in the setting. `code` is that of the error, if any. */
export type ReplicaStatus = { replica: number; isUp: boolean; code: string | undefined }

/** A migration that waits for a lock: its file, the tries so far, and the milliseconds until the next try. */
export type MigrationWait = { file: string; tries: number; pauseMs: number }

export type DatabaseOptions = {
  /** Called with each statement before it runs. Tests use it to count statements and to check their plans. */
  onStatement?: (text: string, parameters: unknown[]) => unknown
  /** Called with each notice of PostgreSQL. Tests use it to see what a cluster sends to its servers. */
  onNotice?: (notice: { message?: string; detail?: string }) => unknown
  /** Statement timeout in milliseconds, 15,000 by default. The lock timeout is two thirds of it. */
  statementTimeoutMs?: number
}

/** Creates one value per database, as `perOwner` does. Several services in one process therefore share
 *  nothing. */
export const perDatabase = <Value>(create: (db: Database) => Value): ((db: Database) => Value) =>
  perOwner(create)

const distributed = new WeakSet<Connection>()

/** Marks a database as spread over several servers, each of which has some organizations' sales. */
export const markDistributed = (db: Connection): void => void distributed.add(db)

/** Reports whether a database is spread over several servers. Statements about one organization are the same
 *  then; those about several read each by itself, or ask every server. */
export const isDistributed = (db: Connection): boolean => distributed.has(db)

/** Returns the rows of a driver's result: postgres.js returns the rows, PGlite an object that holds them. */
export const resultRows = <Row>(result: unknown): Row[] =>
  Array.isArray(result) ? result : (result as { rows: Row[] }).rows

/** Runs a statement that is not prepared, such as one that changes a table, and returns its rows as the driver
 *  parses them. */
export const runSql = async <Row>(db: Pick<Connection, 'execute'>, statement: SQL | string): Promise<Row[]> =>
  resultRows(await db.execute(typeof statement === 'string' ? sql.raw(statement) : statement))

/** Folder of this version's migrations. */
export const migrations = { migrationsFolder: fileURLToPath(new URL('../../drizzle', import.meta.url)) }

/** Creates the Drizzle logger that calls `onStatement`. */
export const logger = ({ onStatement }: DatabaseOptions) =>
  onStatement && { logQuery: (text: string, parameters: unknown[]) => void onStatement(text, parameters) }

type Status = { isMigrated: boolean; isReadOnly: boolean; comment: string | null }

/** Creates a readiness check: the database answers, has all migrations of this version, and accepts writes
 *  unless it is only read. Migrations of later versions don't matter, because each version must run on the
 *  tables of the next. Tells that the database is distributed. The check resolves to the reason if it is not
 *  ready. */
export function readiness(
  db: Database,
  { isOnlyRead = false, onDistributed = () => {} } = {},
): () => Promise<Unready | null> {
  const needed = readMigrationFiles(migrations).map(({ folderMillis }) => folderMillis)
  const query = sql`select (select count(distinct created_at) = ${needed.length} from drizzle.__drizzle_migrations
      where created_at in ${needed}) as "isMigrated",
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    obj_description('payments'::regclass, 'pg_class') as comment`
  return async () => {
    try {
      const [status] = await runSql<Status>(db, query)
      if (status?.comment === distributedComment) onDistributed()
      if (!status?.isMigrated) return { reason: 'MIGRATIONS_MISSING', code: undefined }
      if (status.comment === distributingComment) return { reason: 'DISTRIBUTING', code: undefined }
      return status.isReadOnly && !isOnlyRead ? { reason: 'READ_ONLY', code: undefined } : null
    } catch (error) {
      return unreadyBecause(error)
    }
  }
}

/** Reports whether a retry is likely to succeed: after a serialization failure or a deadlock. */
export const isTransient = (error: unknown): boolean => /^40(001|P01)$/.test(errorCode(error) ?? '')

/** Reports whether a row violated a unique constraint. */
export const isDuplicate = (error: unknown): boolean => errorCode(error) === '23505'

/** Reports whether a statement waited for a lock for too long. */
export const isLockTimeout = (error: unknown): boolean => errorCode(error) === '55P03'

// Read-only; out of disk, memory or connections; statement timeout; lock timeout.
const unavailable = /^(25006|53[1-3]00|57014|55P03)$/

/** Reports whether the database is temporarily unable to answer, as opposed to rejecting the statement. */
export const isUnavailable = (error: unknown): boolean => isTransient(error) || isOutage(error)

/** Reports whether the database is unable to answer any statement now, so that others would fail as well. */
export const isOutage = (error: unknown): boolean =>
  unavailable.test(errorCode(error) ?? '') || isConnectionFailure(error)
