import { placeholder, type SQL, sql } from 'drizzle-orm'
import { triesOfFailing } from '../../../engine/data/leased-jobs.ts'
import { nowMs } from '../../../engine/database/clock.ts'

/** Queue of background jobs. A job is late once it has been due for a minute, and from its third try in vain on, however
 *  far ahead that has put the next one. */
export type Queue = {
  table: string
  /** Time when a job is due. Each try moves it on. */
  dueAt: SQL
  /** Condition of a job that waits for us. */
  waits: SQL
  /** Condition of one that was given up. */
  dead?: SQL
  /** Condition of one that is tried again and again in vain. None where a statement does all jobs at once: if it fails,
   *  they stay due. */
  failing?: SQL
  /** True if those that fail wait for somebody outside, and are not late for us. */
  isTheirs?: boolean
}

/** Time before which a job must have been due to be late: as many minutes ago as the parameter `minutes` says. */
export const before = sql`now() - ${placeholder('minutes')}::float8 * interval '1 minute'`

const wasTried = sql.raw(`attempts >= ${triesOfFailing}`)

function jobs(table: string, dead = 'dead') {
  const has = (status: string) => sql.raw(`${table}.status = '${status}'`)
  const waits = has('pending')
  return { table, dueAt: sql.raw('due_at'), waits, dead: has(dead), failing: sql`${waits} and ${wasTried}` }
}

const { waits: isPending, ...toWebhooks } = jobs('webhook_deliveries')
const toThose = (condition: SQL) =>
  sql`${isPending} and webhook_id = any(array(select id from webhooks where status = 'enabled' and ${condition}))`

const refunds = jobs('refunds', 'failed')
const ofProvider = sql`provider = ${placeholder('provider')}::text`

/** Queues of the background jobs, all of them. Parameters: `minutes`, `provider`. */
export const queues = {
  deliveries: jobs('deliveries'),
  // Whoever fails or asked for a pause is waited for. While nothing gets through, only one delivery at a time is tried.
  webhooks: {
    ...toWebhooks,
    waits: toThose(sql`failing_since is null and (paused_until is null or paused_until <= ${nowMs})`),
    failing: sql`(${toThose(sql`failing_since <= ${before}`)} or ${toThose(sql`true`)} and ${wasTried})`,
    isTheirs: true,
  },
  // A provider that has taken a refund may decide for days.
  refunds: { ...refunds, failing: sql`${refunds.failing} and (reference is null or last_error is not null)` },
  sessions: {
    table: 'open_sessions',
    dueAt: sql`due_at`,
    waits: ofProvider,
    failing: sql`${ofProvider} and ${wasTried}`,
  },
  holds: { table: 'expiries', dueAt: sql`expires_at`, waits: sql`true` },
  // A turn may wait for a day.
  retention: {
    table: 'retention_turns',
    dueAt: sql`(due_at + interval '1 day')`,
    waits: sql`true`,
    failing: wasTried,
  },
  feed: { table: 'changes', dueAt: sql`created_at`, waits: sql`feed_position is null` },
  notices: {
    table: 'events',
    dueAt: sql`(moved_from ->> 'since')::timestamptz`,
    waits: sql`moved_from is not null`,
  },
} satisfies Record<string, Queue>

export type QueueName = keyof typeof queues
export const queueEntries = Object.entries(queues) as [QueueName, Queue][]
