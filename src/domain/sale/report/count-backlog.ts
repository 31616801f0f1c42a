import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import { query } from '../../../data/query.ts'
import { nowMs } from '../../../database/clock.ts'
import type { Connection } from '../../../database/database.ts'
import { holds, isOfHold, openSessions } from '../../payment/queue/table.ts'
import { isHolding, payments } from '../../payment/table.ts'
import { webhookDeliveries, webhooks } from '../../webhook/table.ts'
import { queues } from './queues.ts'

type Name = keyof typeof queues

/** Work that waits for the background jobs, counted up to 10,000 of each kind, by queue: jobs that are due, those due
 *  for more than a minute, and those that were given up. Of holds also those of payments by status, and of refunds all that
 *  are pending. */
export type Backlog = Partial<Record<Name, Record<string, number>>>

// Each count reads the part of an index that it counts, and stops at the limit: its cost does not grow with
// what was sold.
const row = (name: Name, counts: string, rows: SQL) =>
  sql`select ${sql.raw(`'${name}'`)} as name, json_build_object(${sql.raw(counts)}) as counts
    from (${rows} limit 10000) as found`

const waits = (name: Name) => sql.raw(queues[name].waits)
const isDue = (name: Name) => sql`${waits(name)} and ${sql.raw(queues[name].dueAt)} <= ${nowMs}`
const dueAndLate = `'due', count(*), 'late', count(*) filter (where due_at <= now() - interval '1 minute')`

// Counts what is due, in its order where an index has it.
function due(name: Name, condition = isDue(name), isOrdered = true): SQL {
  const { table, dueAt } = queues[name]
  const order = isOrdered ? `order by ${dueAt}` : ''
  const rows = sql`select ${sql.raw(dueAt)} as due_at from ${sql.raw(table)} where ${condition} ${sql.raw(order)}`
  return row(name, dueAndLate, rows)
}

const dead = (name: 'deliveries' | 'webhooks' | 'refunds') => {
  const { table, dead } = queues[name]
  return row(name, `'dead', count(*)`, sql.raw(`select 1 from ${table} where ${dead}`))
}

// Those of a receiver that fails or asked for a pause wait for it, and not for us.
const workingWebhooks = sql`array(select ${webhooks.id} from ${webhooks}
  where ${webhooks.status} = 'enabled' and ${isNull(webhooks.failingSince)}
    and (${webhooks.pausedUntil} is null or ${webhooks.pausedUntil} <= ${nowMs}))`
const isForWorking = sql`${webhookDeliveries.webhookId} = any(${workingWebhooks})`

const isOfProvider = eq(openSessions.provider, sql.placeholder('provider'))

const count = query<{ name: Name; counts: Record<string, number> }>('count_backlog', () =>
  sql.join(
    [
      due('deliveries'),
      dead('deliveries'),
      due('webhooks', sql`${isForWorking} and ${isDue('webhooks')}`, false),
      dead('webhooks'),
      due('refunds'),
      dead('refunds'),
      due('sessions', sql`${isOfProvider} and ${isDue('sessions')}`),
      due('holds'),
      due('feed', waits('feed'), false),
      row(
        'holds',
        `'pending', count(*) filter (where status = 'pending'),
          'processing', count(*) filter (where status = 'processing')`,
        sql`select payment.status from ${holds} cross join lateral (
            select ${payments.status} from ${payments} where ${isOfHold} and ${isHolding} limit 1) as payment
          order by ${holds.expiresAt} desc`,
      ),
      row(
        'refunds',
        `'pending', count(*)`,
        sql`select 1 from refunds where ${waits('refunds')} order by due_at`,
      ),
    ],
    sql` union all `,
  ),
)

/** Counts work that waits for the background jobs, for an operator: open sessions of the provider that money
 *  is taken through, and everything else of all providers. Works on all organizations. */
export async function countBacklog(db: Connection, provider: string): Promise<Backlog> {
  const backlog: Backlog = {}
  for (const { name, counts } of await count(db, { provider }))
    backlog[name] = { ...backlog[name], ...counts }
  return backlog
}
