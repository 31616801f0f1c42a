import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { type Database, migrations } from './database.ts'
import { runSql } from './run-sql.ts'

/** Facts of a database, as an operator asks for them. */
export type Inspection = {
  /** Such as 18.1. */
  version: string
  /** Major version and minor, such as 180001. */
  versionNumber: number
  /** Installed extensions and their versions, such as `plpgsql 1.0`. */
  extensions: string[]
  isReadOnly: boolean
  /** Migrations of this version that are missing, and ones that only a later version has. */
  migrations: { missing: number; unknown: number }
  /** Time of the database minus time of this process, in milliseconds, give or take half of the round trip. */
  clockMs: number
  roundTripMs: number
  /** Seconds that a replica is behind; null on a primary. */
  lagSeconds: number | null
}

type Row = {
  version: string
  number: number
  extensions: string[]
  isReadOnly: boolean
  applied: string[]
  lag: number | null
}

const facts = sql`select current_setting('server_version') as version,
  current_setting('server_version_num')::integer as number,
  array(select extname || ' ' || extversion from pg_extension order by extname)::text[] as extensions,
  current_setting('transaction_read_only') = 'on' as "isReadOnly",
  array(select created_at::text from drizzle.__drizzle_migrations)::text[] as applied,
  case when pg_is_in_recovery() then extract(epoch from now() - pg_last_xact_replay_timestamp())::float8 end as lag`

/** Reads the facts of a database. Throws if it does not answer, or was never migrated. */
export async function inspectDatabase(db: Database): Promise<Inspection> {
  const [row] = await runSql<Row>(db, facts)
  if (!row) throw new Error('the database answered with no row')
  const askedAt = Date.now()
  const [clock] = await runSql<{ ms: number }>(
    db,
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
  )
  const roundTripMs = Date.now() - askedAt
  const own = new Set(readMigrationFiles(migrations).map(({ folderMillis }) => String(folderMillis)))
  const applied = new Set(row.applied)
  return {
    version: row.version,
    versionNumber: row.number,
    extensions: row.extensions,
    isReadOnly: row.isReadOnly,
    migrations: {
      missing: [...own].filter((file) => !applied.has(file)).length,
      unknown: [...applied].filter((file) => !own.has(file)).length,
    },
    clockMs: Math.round((clock?.ms ?? Number.NaN) - (askedAt + roundTripMs / 2)),
    roundTripMs,
    lagSeconds: row.lag,
  }
}
