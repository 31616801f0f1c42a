import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import {
  compareMigrations,
  type Database,
  isDistributed,
  migrations,
  readJournal,
  runSql,
} from './database.ts'

type Facts = {
  /** Such as 18.1. */
  version: string
  /** Major version and minor, such as 180001. */
  versionNumber: number
  /** Installed extensions and their versions, such as `plpgsql 1.0`. */
  extensions: string[]
  /** Migrations as `readJournal` reads them. */
  applied: string[]
  /** Seconds that a replica is behind; null on a primary. */
  lagSeconds: number | null
}

const facts = sql`select current_setting('server_version') as version,
  current_setting('server_version_num')::integer as "versionNumber",
  array(select extname || ' ' || extversion from pg_extension order by extname)::text[] as extensions,
  array(${sql.raw(readJournal)})::text[] as applied,
  case when pg_is_in_recovery() then extract(epoch from now() - pg_last_xact_replay_timestamp())::float8 end as "lagSeconds"`

const clock = sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`

export type Inspection = Awaited<ReturnType<typeof inspectDatabase>>

/** Reads the facts of a database, as an operator asks for them. Throws if it does not answer, or was never migrated. */
export async function inspectDatabase(db: Database) {
  const [{ applied, ...found }] = (await runSql<Facts>(db, facts)) as [Facts]
  const askedAt = Date.now()
  const [{ ms }] = (await runSql(db, clock)) as [{ ms: number }]
  const roundTripMs = Date.now() - askedAt
  const { missing, unknown } = compareMigrations(readMigrationFiles(migrations), applied)
  return {
    ...found,
    /** Migrations of this version that are missing, and ones that only a later version has. */
    migrations: { missing: missing.length, unknown },
    /** Time of the database minus time of this process, in milliseconds, give or take half of the round trip. */
    clockMs: Math.round(ms - (askedAt + roundTripMs / 2)),
    roundTripMs,
  }
}

/** Servers of a cluster as the coordinator finds them; of one PostgreSQL, itself. */
export type Servers = {
  /** Parts of the distributed tables that lie on servers that are out of reach. */
  unreachableShards: number
  /** Transactions that were prepared more than a minute ago and have neither been committed nor taken back. */
  preparedTransactions: number
}

const prepared = `select count(*) from pg_prepared_xacts where prepared < now() - interval '1 minute'`
const ownPrepared = sql`select 0 as "unreachableShards", (${sql.raw(prepared)})::integer as "preparedTransactions"`
const ofServers = sql`
  with asked as materialized (select nodeid, success, result from run_command_on_all_nodes(${prepared}))
  select (select count(*)::integer from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where logicalrelid = (select min(logicalrelid::oid) from pg_dist_partition where partmethod = 'h') and nodeid in (select nodeid from asked where not success)) as "unreachableShards",
    (select coalesce(sum(result::integer), 0)::integer from asked where success) as "preparedTransactions"`

/** Asks each server. */
export async function inspectServers(db: Database): Promise<Servers> {
  const [servers] = (await runSql(db, isDistributed(db) ? ofServers : ownPrepared)) as [Servers]
  return servers
}

// Autovacuum would have analyzed such a table within a minute, and vacuumed it at half as many dead rows.
const neglected = `select string_agg(relid::regclass
      || case when reltuples < 0 then ' (never analyzed)' else ' (dead rows: ' || n_dead_tup || ')' end, ', ') as tables
  from pg_stat_user_tables join pg_class on oid = relid
  where reltuples < 0 and pg_relation_size(relid) > 1e6 or n_dead_tup > 10000 + 0.4 * n_live_tup`

/** Names the tables that nobody vacuums or analyzes, each with what shows it, for each server that has any. */
export async function inspectTables(db: Database): Promise<string[]> {
  const ofEach = sql`select result as tables from run_command_on_all_nodes(${neglected}) where success`
  const found = await runSql<{ tables: string | null }>(db, isDistributed(db) ? ofEach : neglected)
  return found.flatMap(({ tables }) => tables || [])
}
