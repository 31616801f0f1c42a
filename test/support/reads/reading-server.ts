import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import type { Database } from '../../../src/engine/database/database.ts'
import { openDatabase } from '../../../src/engine/database/open.ts'
import { openPostgres, type TestDatabase } from '../harness.ts'
import { inDatabase } from '../setup/database.ts'
import { type PostgresServer, startPostgres } from '../setup/postgres-server.ts'

/** A PostgreSQL of a test's own that counts the blocks that statements read. It never analyzes or vacuums by itself. */
export type ReadingServer = { createDatabase(): Promise<TestDatabase>; stop(): Promise<void> }

/** Starts it. */
export async function startReadingServer(): Promise<ReadingServer> {
  const server: PostgresServer = await startPostgres({
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.track': 'top',
    'pg_stat_statements.max': '5000',
  })
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  return {
    async createDatabase() {
      const name = `reads_${randomBytes(6).toString('hex')}`
      await admin.unsafe(`create database ${name}`)
      const databaseUrl = inDatabase(server.url, name)
      const migrated = await openDatabase({ databaseUrl, dataDir: '' })
      await migrated.migrate()
      await migrated.db.execute(sql`create extension pg_stat_statements`)
      await migrated.close()
      return {
        settings: { DATABASE_URL: databaseUrl },
        open: (options) => openPostgres(databaseUrl, options),
        drop: async () => void (await admin.unsafe(`drop database if exists ${name} with (force)`)),
      }
    },
    async stop() {
      await admin.end()
      await server.stop()
    },
  }
}

/** Blocks that one statement has read since the last count. */
export type StatementReads = { text: string; calls: number; blocks: number }

/** Runs `work`, and returns the blocks of its statements, most first: those of the database, found in memory or not, and
 *  temporary ones. */
export async function countReads(db: Database, work: () => Promise<unknown>): Promise<StatementReads[]> {
  await db.execute(sql`select pg_stat_statements_reset()`)
  await work()
  const rows = await db.execute(sql`
    select query as text, calls::integer,
      (shared_blks_hit + shared_blks_read + local_blks_hit + local_blks_read + temp_blks_read + temp_blks_written)::integer as blocks
    from pg_stat_statements join pg_database on pg_database.oid = dbid
    where datname = current_database() and query not like '%pg_stat_statements%' order by 3 desc`)
  return rows as unknown as StatementReads[]
}
