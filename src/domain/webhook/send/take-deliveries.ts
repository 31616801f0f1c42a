import { eq, sql } from 'drizzle-orm'
import { inSeconds, nowMs } from '../../../data/leased-jobs.ts'
import type { Database } from '../../../database/database.ts'
import { type Change, changes } from '../../change/table.ts'
import { webhookDeliveries, webhooks } from '../table.ts'

// Of one webhook at a time: some, and only one where nothing gets through, so that it is not pressed.
const some = 20
const share = sql`case when ${webhooks.failingSince} is null then ${sql.raw(String(some))} else 1 end`

// To one address at the same time.
const atOnce = 4

/** How what was taken of one webhook is to be sent: so many at the same time, and so many one after the other. */
export const pace = { atOnce, inARow: Math.ceil(some / atOnce) }

/** A change that is to be sent now. */
export type TakenDelivery = {
  webhookId: string
  url: string
  /** Those that are live now, the newest first. */
  secrets: string[]
  /** Whether nothing got through the last time. */
  isFailing: boolean
  /** How often it was tried, with this time. */
  attempts: number
  change: Pick<Change, 'id' | 'type' | 'subjectId' | 'sequence' | 'data' | 'createdAt'>
}

type Limits = { limit: number; leaseSeconds: number; except: string[] }

/** Takes what is due for webhooks other than those of `except`, some of each, those that wait longest first, so that
 *  one with much to come or a slow receiver holds up no other.
 *  Until the lease is over no process takes the same again. */
export async function takeDeliveries(
  db: Database,
  { limit, leaseSeconds, except }: Limits,
): Promise<TakenDelivery[]> {
  // In any order: where there is more than the limit, nobody is the last each time.
  const ready = sql`(select ${webhooks.id}, ${share} as share from ${webhooks}
    where ${webhooks.status} = 'enabled' and (${webhooks.pausedUntil} is null or ${webhooks.pausedUntil} <= ${nowMs})
      and not ${webhooks.id} = any(${sql.param(except)}::text[])
    order by random()) as ready`
  const due = sql`(select ${webhookDeliveries}.ctid as row from ${webhookDeliveries}
    where ${webhookDeliveries.webhookId} = ready.id and ${webhookDeliveries.status} = 'pending'
      and ${webhookDeliveries.dueAt} <= ${nowMs}
    order by ${webhookDeliveries.dueAt}, ${webhookDeliveries.changeId} limit ready.share
    for update skip locked) as due`
  const taken = db.$with('taken').as(
    db
      .update(webhookDeliveries)
      .set({ attempts: sql`${webhookDeliveries.attempts} + 1`, dueAt: inSeconds(leaseSeconds) })
      .where(sql`ctid = any(array(select due.row from ${ready} cross join lateral ${due} limit ${limit}))`)
      .returning({
        webhookId: webhookDeliveries.webhookId,
        changeId: webhookDeliveries.changeId,
        attempts: webhookDeliveries.attempts,
      }),
  )
  return db
    .with(taken)
    .select({
      webhookId: taken.webhookId,
      url: webhooks.url,
      secrets: sql<string[]>`array_remove(array[${webhooks.secret},
        case when ${webhooks.previousSecretUntil} > ${nowMs} then ${webhooks.previousSecret} end], null)`,
      isFailing: sql<boolean>`${webhooks.failingSince} is not null`,
      attempts: taken.attempts,
      change: {
        id: changes.id,
        type: changes.type,
        subjectId: changes.subjectId,
        sequence: changes.sequence,
        data: changes.data,
        createdAt: changes.createdAt,
      },
    })
    .from(taken)
    .innerJoin(webhooks, eq(webhooks.id, taken.webhookId))
    .innerJoin(changes, eq(changes.id, taken.changeId))
}
