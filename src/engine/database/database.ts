import { fileURLToPath } from 'node:url'
import { type SQL, sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'
import { errorCode } from '../base/errors.ts'
import { perInstance } from '../base/make-once.ts'
import { everybody } from '../base/turns.ts'
import { isConnectionFailure, type Unready, unreadyBecause } from './pool/failures.ts'
import type { PoolUsage } from './pool/pool.ts'

/** Settings of the planner, in each session of either database. Index lookups are as cheap as they are in memory and on an
 *  SSD: by the server's 4, a write or a lookup reads whole tables of some hundred rows. No table is read
 *  whole where an index serves, and tables are joined in the order in which a statement names them, those first that its
 *  keys find: otherwise a plan made while a table was empty, or by the statistics of others, would look through all that an
 *  organization has. An address may say otherwise (`?random_page_cost=4`). */
export const planning = { random_page_cost: 1.1, enable_seqscan: 'off', join_collapse_limit: 1 }

/** Numbers of tables that a run has distributed, copied to every server, or found done. */
export type Distribution = { distributed: number; reference: number; done: number }

/** Comment that `distribute` leaves on the table of migrations once all tables are distributed. */
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
  distribute(copied: readonly string[]): Promise<Distribution>
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
  /** Returns a database for shared reads, which may lag behind: a replica that is up, else `db`. Absent without
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

/** Status of a replica, numbered by its position in the setting. `code` says why it is not read: that of an error, the
 *  reason why it is unready, LATE, NO_REPLICA (it was promoted, or never was one) or BEHIND. */
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

// Handles of a database that take the turns of an owner.
type Handle = Database & { owner: string; whole: Database }
const isHandle = (db: Connection): db is Handle => 'whole' in db

/** Returns the database itself, whoever's turns are taken on it. */
export const wholeOf = <Whole extends Connection>(db: Whole): Whole | Database =>
  isHandle(db) ? db.whole : db

// Handles of a database on which owners take turns, by owner. Those that were used last are kept; others get new ones.
const handlesOf = new WeakMap<Database, LRUCache<string, Handle>>()
const maxHandles = 10_000

/** Lets owners take turns on a database, each through a client of its own. */
export function takeTurns(whole: Database, clientOf: (owner: string) => object): void {
  const handleOf = (owner: string): Handle => {
    const session = Object.assign(Object.create(whole._.session), { client: clientOf(owner) })
    return Object.assign(Object.create(whole), { owner, whole, session, _: { ...whole._, session } })
  }
  handlesOf.set(whole, new LRUCache({ max: maxHandles, memoMethod: handleOf }))
}

/** Returns the owner whose turns are taken: see `ownedBy`. */
export const ownerOf = (db: Database): string => (isHandle(db) ? db.owner : everybody)

/** Returns the same database for an owner, whose statements and transactions take its turns: an organization in a mode,
 *  which every run of a queue works for, or a caller. */
export function ownedBy(db: Database, owner: string): Database {
  const whole = wholeOf(db)
  return handlesOf.get(whole)?.memo(owner) ?? whole
}

/** Creates one value per database, as `perInstance` does, for whatever owner. Several services in one process therefore share
 *  nothing. */
export function perDatabase<Value>(create: (db: Database) => Value): (db: Database) => Value {
  const made = perInstance(create)
  return (db) => made(wholeOf(db))
}

type Servers = 'one' | 'several' | 'unknown'
const serversOf = new WeakMap<Connection, Servers>()

/** Marks a database as of one server, or as spread over several, each of which has some organizations' rows. */
export const markServers = (db: Connection, servers: Servers): void => void serversOf.set(db, servers)

/** Marks a transaction as its database is. */
export const markLike = (tx: Connection, db: Database): void =>
  markServers(tx, serversOf.get(wholeOf(db)) ?? 'unknown')

/** Reports whether a database is spread over several servers: statements about several organizations read each by itself
 *  then, or ask every server. */
export const isDistributed = (db: Connection): boolean => serversOf.get(wholeOf(db)) === 'several'

/** Reports whether a database is known to be of one server. As long as it isn't known, statements are as for several. */
export const isOfOneServer = (db: Connection): boolean => serversOf.get(wholeOf(db)) === 'one'

/** Returns the rows of a driver's result: postgres.js returns the rows, PGlite an object that holds them. */
export const resultRows = <Row>(result: unknown): Row[] =>
  Array.isArray(result) ? result : (result as { rows: Row[] }).rows

/** Runs a statement that is not prepared, such as one that changes a table, and returns its rows as the driver
 *  parses them. */
export const runSql = async <Row>(db: Pick<Connection, 'execute'>, statement: SQL | string): Promise<Row[]> =>
  resultRows(await db.execute(typeof statement === 'string' ? sql.raw(statement) : statement))

/** Folder of this version's migrations. */
export const migrations = { migrationsFolder: fileURLToPath(new URL('../../../drizzle', import.meta.url)) }

/** Creates the Drizzle logger that calls `onStatement`. */
export const logger = ({ onStatement }: DatabaseOptions) =>
  onStatement && { logQuery: (text: string, parameters: unknown[]) => void onStatement(text, parameters) }

/** Statement that reads the migrations of a database, as `compareMigrations` takes them. */
export const readJournal = `select created_at || ' ' || hash as migration from drizzle.__drizzle_migrations`

/** Compares migrations of this version with those of a database: which are missing there, and how many only a later
 *  version has. Tables are older if the first is missing beside others, or if one had another text when it ran. */
export function compareMigrations<File extends { folderMillis: number; hash: string }>(
  own: File[],
  applied: string[],
) {
  const hashes = new Map(applied.map((migration) => migration.split(' ') as [time: string, hash: string]))
  const known = own.filter(({ folderMillis }) => hashes.has(`${folderMillis}`))
  return {
    missing: own.filter((file) => !known.includes(file)),
    unknown: hashes.size - known.length,
    areOlder:
      (hashes.size > 0 && own[0] !== known[0]) ||
      known.some(({ folderMillis, hash }) => hash !== hashes.get(`${folderMillis}`)),
  }
}

type Status = { migrations: string[]; isReadOnly: boolean; comment: string | null }

const serversBy: Record<string, Servers> = {
  [distributedComment]: 'several',
  [distributingComment]: 'unknown',
}

/** Creates a readiness check: the database answers, has all migrations of this version, and accepts writes
 *  unless it is only read. Migrations of later versions don't matter, because each version must run on the
 *  tables of the next. Tells of how many servers the database is. The check resolves to the reason if it is not
 *  ready. */
export function readiness(
  db: Database,
  { isOnlyRead = false, onServers = (_: Servers) => {} } = {},
): () => Promise<Unready | null> {
  const own = readMigrationFiles(migrations)
  const query = sql`select array(${sql.raw(readJournal)})::text[] as migrations,
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    obj_description(to_regclass('drizzle.__drizzle_migrations'), 'pg_class') as comment`
  return async () => {
    try {
      const [status] = await runSql<Status>(db, query)
      if (status) onServers(serversBy[status.comment ?? ''] ?? 'one')
      const { missing, areOlder } = compareMigrations(own, status?.migrations ?? [])
      if (areOlder) return { reason: 'TABLES_OLDER', code: undefined }
      if (!status || missing.length > 0) return { reason: 'MIGRATIONS_MISSING', code: undefined }
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
