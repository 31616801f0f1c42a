import { and, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { query } from '../../../data/query.ts'
import { nowMs } from '../../../database/clock.ts'
import type { Connection } from '../../../database/database.ts'
import { changes } from '../../change/table.ts'
import { deliveries } from '../../delivery/table.ts'
import { holds, isOfHold, openSessions } from '../../payment/queue/table.ts'
import { isHolding, payments } from '../../payment/table.ts'
import { refunds } from '../../refund/table.ts'
import { webhookDeliveries, webhooks } from '../../webhook/table.ts'

type Counts = Record<string, number>

/** Work that waits for the background jobs, counted up to 10,000 of each kind. */
export type Backlog = {
  /** By queue: jobs that are due, those due for more than a minute, and those that were given up. */
  queues: Record<string, { due?: number; late?: number; dead?: number }>
  /** Unpaid payments, which hold places, by status. */
  payments: Counts
  /** Refunds that are not done, by status. */
  refunds: Counts
}

// Each count reads the part of an index that it counts, and stops at the limit: its cost does not grow with
// what was sold.
const limit = sql.raw('limit 10000')

const row = (part: keyof Backlog, name: string, counts: SQL, rows: SQL) =>
  sql`select ${sql.raw(`'${part}'`)} as part, ${sql.raw(`'${name}'`)} as name, ${counts} as counts
    from (${rows} ${limit}) as found`

const isLate = sql`due_at <= now() - interval '1 minute'`
const unordered = sql``

// Counts what is due by a column, in its order where an index has it.
const due = (queue: string, dueAt: PgColumn, condition: SQL | undefined, order = sql`order by ${dueAt}`) =>
  row(
    'queues',
    queue,
    sql`json_build_object('due', count(*), 'late', count(*) filter (where ${isLate}))`,
    sql`select ${dueAt} as due_at from ${dueAt.table} where ${condition} ${order}`,
  )

type Jobs = typeof deliveries | typeof refunds | typeof webhookDeliveries

const hasStatus = (table: Jobs, status: string) => eq(table.status, sql.raw(`'${status}'`))
const dead = (queue: string, table: Jobs, status: string) =>
  row(
    'queues',
    queue,
    sql`json_build_object('dead', count(*))`,
    sql`select 1 from ${table} where ${hasStatus(table, status)}`,
  )

const isPast = (time: PgColumn) => lte(time, nowMs)
const isDue = (table: Jobs) => and(hasStatus(table, 'pending'), isPast(table.dueAt))

// Those of a receiver that fails or asked for a pause wait for it, and not for us.
const workingWebhooks = sql`array(select ${webhooks.id} from ${webhooks}
  where ${webhooks.status} = 'enabled' and ${isNull(webhooks.failingSince)}
    and ${or(isNull(webhooks.pausedUntil), isPast(webhooks.pausedUntil))})`
const isForWorking = sql`${webhookDeliveries.webhookId} = any(${workingWebhooks})`

const isOfProvider = eq(openSessions.provider, sql.placeholder('provider'))

const count = query<{ part: keyof Backlog; name: string; counts: Counts }>('count_backlog', () =>
  sql.join(
    [
      due('deliveries', deliveries.dueAt, isDue(deliveries)),
      dead('deliveries', deliveries, 'dead'),
      due('webhooks', webhookDeliveries.dueAt, and(isForWorking, isDue(webhookDeliveries)), unordered),
      dead('webhooks', webhookDeliveries, 'dead'),
      due('refunds', refunds.dueAt, isDue(refunds)),
      dead('refunds', refunds, 'failed'),
      due('sessions', openSessions.dueAt, and(isOfProvider, isPast(openSessions.dueAt))),
      due('holds', holds.expiresAt, isPast(holds.expiresAt)),
      due('feed', changes.createdAt, isNull(changes.feedPosition), unordered),
      row(
        'payments',
        '',
        sql`json_build_object('pending', count(*) filter (where status = 'pending'),
          'processing', count(*) filter (where status = 'processing'))`,
        sql`select payment.status from ${holds} cross join lateral (
            select ${payments.status} from ${payments} where ${isOfHold} and ${isHolding} limit 1) as payment
          order by ${holds.expiresAt} desc`,
      ),
      row(
        'refunds',
        '',
        sql`json_build_object('pending', count(*))`,
        sql`select 1 from ${refunds} where ${hasStatus(refunds, 'pending')} order by ${refunds.dueAt}`,
      ),
    ],
    sql` union all `,
  ),
)

/** Counts work that waits for the background jobs, for an operator: open sessions of the provider that money
 *  is taken through, and everything else of all providers. Works on all organizations. */
export async function countBacklog(db: Connection, provider: string): Promise<Backlog> {
  const backlog: Backlog = { queues: {}, payments: {}, refunds: {} }
  for (const { part, name, counts } of await count(db, { provider }))
    if (part === 'queues') backlog.queues[name] = { ...backlog.queues[name], ...counts }
    else Object.assign(backlog[part], counts)
  backlog.refunds.failed = backlog.queues.refunds?.dead ?? 0
  return backlog
}
