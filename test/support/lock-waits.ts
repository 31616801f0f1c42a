import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { Database } from '../../src/database/database.ts'

/** Resolves once exactly one connection to the database waits for a lock. */
export async function waitForBlockedStatement(db: Database): Promise<void> {
  const waiting = () =>
    db.$count(sql`pg_stat_activity`, sql`datname = current_database() and wait_event_type = 'Lock'`)
  await expect.poll(waiting, { timeout: 10_000 }).toBe(1)
}
