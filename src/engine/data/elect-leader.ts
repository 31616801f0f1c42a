import { randomUUID } from 'node:crypto'
import { placeholder as parameter, sql } from 'drizzle-orm'
import { repeat } from '../base/timers.ts'
import type { Database } from '../database/database.ts'
import { query } from './query.ts'
import { leaders } from './table.ts'

const length = sql`${parameter('leaseMs')}::integer * interval '1 ms'`

// One statement, and a row instead of an advisory lock: those belong to sessions, which a pooler of
// transactions hands from one client to the next. The loser of a race waits for the winner's commit, and then
// finds its lease. A lease that ends later than any that begins at this moment was given before a failover to a
// server whose clock is behind, or before the clock was set back.
const claim = query<{ holder: string }>(
  'claim_leadership',
  () => sql`
  insert into ${leaders} (role, holder, expires_at)
  values (${parameter('role')}, ${parameter('holder')}, now() + ${length})
  on conflict (role) do update set holder = excluded.holder, expires_at = excluded.expires_at
  where ${leaders.holder} = excluded.holder or ${leaders.expiresAt} <= now()
    or ${leaders.expiresAt} > clock_timestamp() + ${length} + interval '1 ms'
  returning holder`,
)

const resign = query(
  'resign_leadership',
  () =>
    sql`delete from ${leaders} where role = ${parameter('role')} and holder = ${parameter('holder')} returning role`,
)

type ElectionOptions = {
  role: string
  onError(error: unknown): void
  /** Time until others take over from a leader that died; the same in all processes, of whatever version. */
  leaseMs?: number
  /** Time between two attempts to take the role or to keep it. */
  pauseMs?: number
}

/** Stands for election to a role that one of all processes on a database has. A leader renews its lease, and
 *  is succeeded at the next attempt of another process once it stops, or once its lease has ended. */
export function electLeader(
  db: Database,
  { role, onError, leaseMs = 10_000, pauseMs = 3_000 }: ElectionOptions,
) {
  const holder = randomUUID()
  let leadsUntil = Number.NEGATIVE_INFINITY
  let isOver = false

  async function attempt(): Promise<void> {
    // Before the statement, so that the lease ends here before it ends in the database.
    const askedAt = performance.now()
    const won = await claim(db, { role, holder, leaseMs })
    leadsUntil = won.length > 0 ? askedAt + leaseMs : Number.NEGATIVE_INFINITY
  }
  const stopTrying = repeat(attempt, { pauseMs, firstMs: 0 }, onError)

  return {
    /** True while no other process can have the role. A hint for work that may safely be done twice: a process
     *  that is stopped in the middle of it may find another one doing the same when it goes on. */
    isLeader: () => !isOver && performance.now() < leadsUntil,
    /** Gives the role up, so that another process can take it at once. */
    async stop() {
      isOver = true
      await stopTrying()
      if (performance.now() < leadsUntil) await resign(db, { role, holder }).catch(onError)
    },
  }
}
