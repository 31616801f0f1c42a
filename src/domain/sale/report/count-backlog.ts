import { type SQL, sql } from 'drizzle-orm'
import { query } from '../../../engine/data/query.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { expiries, isOfExpiry } from '../../payment/queue/table.ts'
import { isHolding, payments } from '../../payment/table.ts'
import { before, type Queue, type QueueName, queueEntries, queues } from './queues.ts'

/** Work that waits for the background jobs, counted up to 10,000 of each kind, by queue: jobs that are due, those that are
 *  late, those that fail again and again, and those that were given up. Of holds also those of payments by status, and of
 *  refunds all that are pending. */
export type Backlog = Record<QueueName, Record<string, number>>

/** Jobs of a queue that are late for the same reason: the code of their last failure, or `LATE` if nobody tries them. */
export type Trouble = { queue: QueueName; code: string; count: number }

type BacklogOptions = { provider: string; minutes?: number }

// Each count reads the part of an index that it counts, and stops at the limit: its cost does not grow with
// what was sold.
const row = (name: QueueName, counts: string, rows: SQL) =>
  sql`select ${sql.raw(`'${name}'`)} as name, json_build_object(${sql.raw(counts)}) as counts
    from (${rows} limit 10000) as found`

// In the order of time where an index has it.
const ordered = new Set<QueueName>(['sessions', 'holds'])

function due([name, { table, dueAt, waits, failing = sql`false` }]: [QueueName, Queue]): SQL {
  const order = ordered.has(name) ? sql`order by ${dueAt}` : sql``
  const isLate = sql`${dueAt} <= ${before} and not (${failing})`
  const rows = sql`select (${isLate}) as is_late from ${sql.raw(table)} where ${waits} and ${dueAt} <= ${nowMs} ${order}`
  return row(name, `'due', count(*), 'late', count(*) filter (where is_late)`, rows)
}

const dead = ([name, { table, dead }]: [QueueName, Queue]) =>
  dead ? [row(name, `'dead', count(*)`, sql`select 1 from ${sql.raw(table)} where ${dead}`)] : []

const count = query<{ name: QueueName; counts: Record<string, number> }>('count_backlog', () =>
  sql.join(
    [
      ...queueEntries.map(due),
      ...queueEntries.flatMap(dead),
      row(
        'holds',
        `'pending', count(*) filter (where status = 'pending'),
          'processing', count(*) filter (where status = 'processing')`,
        sql`select distinct id, status from (
          select payment.* from ${expiries} cross join lateral (
            select ${payments.id}, ${payments.status} from ${payments} where ${isOfExpiry} and ${isHolding} limit 1) as payment
          order by ${expiries.expiresAt} desc limit 10000) as newest`,
      ),
      row('refunds', `'pending', count(*)`, sql`select 1 from refunds where ${queues.refunds.waits}`),
    ],
    sql` union all `,
  ),
)

const countFailing = query<Trouble>('count_failing_jobs', () =>
  sql.join(
    queueEntries.flatMap(([name, { table, failing }]) => {
      if (!failing) return []
      const rows = sql`select last_error from ${sql.raw(table)} where ${failing} limit 10000`
      return [
        sql`select ${sql.raw(`'${name}'`)} as queue, coalesce(last_error, 'UNKNOWN') as code, count(*)::integer as count
          from (${rows}) as found group by 2`,
      ]
    }),
    sql` union all `,
  ),
)

async function read(db: Connection, { provider, minutes = 1 }: BacklogOptions) {
  const backlog = Object.fromEntries(queueEntries.map(([name]) => [name, {}])) as Backlog
  for (const { name, counts } of await count(db, { provider, minutes })) Object.assign(backlog[name], counts)
  return { backlog, failing: await countFailing(db, { provider, minutes }) }
}

/** Counts work that waits for the background jobs, for an operator: open sessions of the provider that money
 *  is taken through, and everything else of all providers. Works on all organizations. */
export async function countBacklog(db: Connection, provider: string): Promise<Backlog> {
  const { backlog, failing } = await read(db, { provider })
  for (const [name, { failing: canFail, isTheirs }] of queueEntries) {
    if (!canFail) continue
    const own = failing.filter(({ queue }) => queue === name).reduce((sum, { count }) => sum + count, 0)
    const late = (backlog[name].late ?? 0) + (isTheirs ? 0 : own)
    backlog[name] = { ...backlog[name], late, failing: own }
  }
  return backlog
}

/** Lists what is late or fails, by queue and code, and how much. A job that is due is late after `minutes`, one by
 *  default. */
export async function findTroubles(db: Connection, asked: BacklogOptions): Promise<Trouble[]> {
  const { backlog, failing } = await read(db, asked)
  const late = queueEntries.map(([queue]) => ({ queue, code: 'LATE', count: backlog[queue].late ?? 0 }))
  return [...late, ...failing].filter(({ count }) => count > 0)
}

const codesForPerson = new Set([
  ...['HTTP_401', 'HTTP_403', 'EAUTH'],
  ...['SMTP_530', 'SMTP_534', 'SMTP_535', 'SMTP_538'],
])

/** Reports whether a person must act before a job can succeed: credentials are refused, or lack a right. */
export const needsPerson = (code: string): boolean => codesForPerson.has(code)
