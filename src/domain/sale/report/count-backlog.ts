import { and, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
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
const due = (queue: string, rows: SQL) =>
  row(
    'queues',
    queue,
    sql`json_build_object('due', count(*), 'late', count(*) filter (where ${isLate}))`,
    rows,
  )
const dead = (queue: string, rows: SQL) =>
  row('queues', queue, sql`json_build_object('dead', count(*))`, rows)

const isDue = (table: typeof deliveries | typeof refunds | typeof webhookDeliveries) =>
  and(eq(table.status, sql.raw("'pending'")), lte(table.dueAt, nowMs))

// Those of a receiver that fails or asked for a pause wait for it, and not for us.
const workingWebhooks = sql`array(select ${webhooks.id} from ${webhooks}
  where ${webhooks.status} = 'enabled' and ${isNull(webhooks.failingSince)}
    and ${or(isNull(webhooks.pausedUntil), lte(webhooks.pausedUntil, nowMs))})`

const count = query<{ part: keyof Backlog; name: string; counts: Counts }>('count_backlog', () =>
  sql.join(
    [
      due(
        'deliveries',
        sql`select ${deliveries.dueAt} from ${deliveries} where ${isDue(deliveries)} order by ${deliveries.dueAt}`,
      ),
      dead('deliveries', sql`select 1 from ${deliveries} where ${deliveries.status} = 'dead'`),
      due(
        'webhooks',
        sql`select ${webhookDeliveries.dueAt} from ${webhookDeliveries}
          where ${webhookDeliveries.webhookId} = any(${workingWebhooks}) and ${isDue(webhookDeliveries)}`,
      ),
      dead('webhooks', sql`select 1 from ${webhookDeliveries} where ${webhookDeliveries.status} = 'dead'`),
      due(
        'refunds',
        sql`select ${refunds.dueAt} from ${refunds} where ${isDue(refunds)} order by ${refunds.dueAt}`,
      ),
      dead('refunds', sql`select 1 from ${refunds} where ${refunds.status} = 'failed'`),
      due(
        'sessions',
        sql`select ${openSessions.dueAt} from ${openSessions}
          where ${openSessions.provider} = ${sql.placeholder('provider')} and ${openSessions.dueAt} <= ${nowMs}
          order by ${openSessions.dueAt}`,
      ),
      due(
        'holds',
        sql`select ${holds.expiresAt} as due_at from ${holds}
          where ${holds.expiresAt} <= ${nowMs} order by ${holds.expiresAt}`,
      ),
      due(
        'feed',
        sql`select ${changes.createdAt} as due_at from ${changes} where ${isNull(changes.feedPosition)}`,
      ),
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
        sql`select 1 from ${refunds} where ${refunds.status} = 'pending' order by ${refunds.dueAt}`,
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
