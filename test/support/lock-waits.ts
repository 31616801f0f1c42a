import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { type Database, isDistributed } from '../../src/engine/database/database.ts'

/** Resolves once exactly one connection to the database waits for a lock, or as many as `count`. */
export async function waitForBlockedStatement(db: Database, count = 1): Promise<void> {
  // On a cluster, the server that has the row waits.
  const activity = isDistributed(db) ? sql`citus_stat_activity` : sql`pg_stat_activity`
  const waiting = () => db.$count(activity, sql`datname = current_database() and wait_event_type = 'Lock'`)
  await expect.poll(waiting, { timeout: 10_000 }).toBe(count)
}
