import { eq, sql } from 'drizzle-orm'
import { preparedSql } from '../../../data/prepared.ts'
import { inSeconds, nowMs } from '../../../database/clock.ts'
import type { Database } from '../../../database/database.ts'
import { type Change, changes } from '../../change/table.ts'
import { webhookDeliveries, webhooks } from '../table.ts'
import { firstBatch } from './pace.ts'

/** A change that is leased to this process for sending. */
export type ClaimedDelivery = {
  webhookId: string
  url: string
  /** Live secrets, newest first. */
  secrets: string[]
  /** True if the last attempt to reach the webhook failed. */
  isFailing: boolean
  /** Number of attempts, including this one. */
  attempts: number
  change: Pick<Change, 'id' | 'type' | 'subjectId' | 'sequence' | 'data' | 'createdAt'>
}

/** Webhooks of which more than `firstBatch` are claimed, and how many. */
type Batches = { webhookIds: string[]; sizes: number[] }
type Limits = { limit: number; leaseSeconds: number; except: string[]; batches: Batches }

// Deliveries that are claimed of one webhook at a time; only one while it is failing.
const shareOf = ({ webhookIds, sizes }: Batches) => sql`case when ${webhooks.failingSince} is null then
  coalesce((select size from unnest(${sql.param(webhookIds)}::text[], ${sql.param(sizes)}::integer[]) as paced(id, size)
    where paced.id = ${webhooks.id}), ${sql.raw(String(firstBatch))}) else 1 end`

/** Claims due deliveries of webhooks that are not in `except`: a share of each webhook, oldest first, so that
 *  a large backlog or a slow receiver delays no other. No process claims them again until the lease ends. */
export async function claimDeliveries(
  db: Database,
  { limit, leaseSeconds, except, batches }: Limits,
): Promise<ClaimedDelivery[]> {
  // Random order, so that no webhook is always last when there is more than the limit.
  const ready = sql`(select ${webhooks.id}, ${shareOf(batches)} as share from ${webhooks}
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

const release = preparedSql('give_back_webhook_deliveries', () => {
  const { webhookId, changeId, attempts, status } = webhookDeliveries
  return sql`
  update ${webhookDeliveries} set attempts = ${attempts} - 1, due_at = now()
  from unnest(${sql.placeholder('webhookIds')}::text[], ${sql.placeholder('changeIds')}::text[],
    ${sql.placeholder('attempts')}::integer[]) as taken(webhook_id, change_id, attempts)
  where ${webhookId} = taken.webhook_id and ${changeId} = taken.change_id and ${attempts} = taken.attempts
    and ${status} = 'pending'`
})

/** Returns claimed but unsent deliveries to the queue before their lease ends. Counts no attempt. */
export async function releaseDeliveries(db: Database, claimed: ClaimedDelivery[]): Promise<void> {
  if (claimed.length === 0) return
  await release(db, {
    webhookIds: claimed.map(({ webhookId }) => webhookId),
    changeIds: claimed.map(({ change }) => change.id),
    attempts: claimed.map(({ attempts }) => attempts),
  })
}
