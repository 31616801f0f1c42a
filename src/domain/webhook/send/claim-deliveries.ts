import { notInArray, placeholder, type SQL, sql } from 'drizzle-orm'
import { groupBy } from '../../../engine/base/group-by.ts'
import { arrayRows } from '../../../engine/data/array-params.ts'
import {
  byOrganization,
  findEverywhere,
  mustClaimByOrganization,
} from '../../../engine/data/by-organization.ts'
import { inOrganizationIfNamed, query, textArrayParam } from '../../../engine/data/query.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Database } from '../../../engine/database/database.ts'
import { type Change, changes, type Webhook, webhookDeliveries, webhooks } from '../../change/table.ts'
import { firstBatchSize, type Paces } from './pace.ts'

/** A change that is leased to this process for sending to a webhook. */
export type ClaimedDelivery = Pick<Change, 'id' | 'type' | 'subjectId' | 'sequence' | 'organizationId'> &
  Pick<Webhook, 'url' | 'secret'> & {
    webhookId: string
    /** Secret before a rotation, which signs too; null once its time is over. */
    previousSecret: string | null
    /** True if the last attempt to reach the webhook failed. */
    isFailing: boolean
    /** Number of attempts, including this one. */
    attempts: number
    /** JSON of the state that the change tells. */
    data: string
    /** Time of the change, in milliseconds since 1970. */
    createdAt: number
  }

/** `batches` are webhooks of which more than `firstBatchSize` are claimed, and how many. */
type Limits = { limit: number; leaseSeconds: number; except: string[]; batches: ReturnType<Paces['batches']> }

const { organizationId, webhookId, changeId, status, dueAt, attempts } = webhookDeliveries
const isDue = sql`${status} = 'pending' and ${dueAt} <= ${nowMs}`

const paced = arrayRows('paced', { webhookId: 'text', size: 'integer' })

// Deliveries that are claimed of one webhook at a time; only one while it is failing.
const share = sql`case when ${webhooks.failingSince} is null then
  coalesce((select ${paced.cells.size} from ${paced.rows} where ${paced.cells.webhookId} = ${webhooks.id}),
    ${sql.raw(String(firstBatchSize))}) else 1 end`

const isReady = sql`${webhooks.status} = 'enabled'
  and (${webhooks.pausedUntil} is null or ${webhooks.pausedUntil} <= ${nowMs})`

/** Webhooks of which a pending delivery matches a condition on its time: a table of the column `id`. Looks at the first of
 *  each, by the index of pending deliveries, of which it reads a hundred entries at a time and goes on behind their last
 *  webhook: webhooks for which nothing waits cost nothing. For one server. */
export const webhooksWithPending = (condition: SQL) => sql`(
  with recursive walk as (
    select '' as last, '{}'::text[] as found
    union all
    select step.* from walk cross join lateral (
      select max(webhook_id) as last, array_agg(distinct webhook_id) filter (where ${condition}) as found from (
        select webhook_id, due_at from ${webhookDeliveries} where ${status} = 'pending' and ${webhookId} > walk.last
        order by ${webhookId}, ${dueAt} limit 100) as entries
    ) as step where step.last is not null
  )
  select distinct unnest(found) as id from walk)`

// Random order, so that no webhook is always last when there is more than the limit.
const ready = sql`(select ready.* from ${webhooksWithPending(sql`due_at <= ${nowMs}`)} as waited cross join lateral (
    select ${webhooks.id}, ${share} as share from ${webhooks} where ${webhooks.id} = waited.id and ${isReady} limit 1) as ready
  where not waited.id = any(${textArrayParam('except')}) order by random()) as asked`

// Takes a share of each of some webhooks, oldest first. Rows that another process is claiming are left to it.
const claimOf = (asked: SQL, limit: SQL) => sql`
  with taken as (
    update ${webhookDeliveries} set attempts = ${attempts} + 1,
      due_at = now() + ${placeholder('leaseSeconds')}::float8 * interval '1 second'
    from (
      select due.* from ${asked} cross join lateral (
        select ${organizationId}, ${webhookId}, ${changeId} from ${webhookDeliveries}
        where ${inOrganizationIfNamed(organizationId)} and ${webhookId} = asked.id and ${isDue}
        order by ${dueAt}, ${changeId} limit asked.share for update skip locked
      ) as due limit ${limit}
    ) as free
    where ${inOrganizationIfNamed(organizationId)} and ${organizationId} = free.organization_id and ${webhookId} = free.webhook_id
      and ${changeId} = free.change_id
    returning ${organizationId}, ${webhookId}, ${changeId}, ${attempts}
  )
  select taken.organization_id as "organizationId", taken.webhook_id as "webhookId", ${webhooks.url}, ${webhooks.secret},
    case when ${webhooks.previousSecretUntil} > ${nowMs} then ${webhooks.previousSecret} end as "previousSecret",
    ${webhooks.failingSince} is not null as "isFailing", taken.attempts,
    ${changes.id}, ${changes.type}, ${changes.subjectId} as "subjectId", ${changes.sequence}, ${changes.data}::text as data,
    (extract(epoch from ${changes.createdAt}) * 1000)::float8 as "createdAt"
  from taken join ${webhooks} on ${webhooks.id} = taken.webhook_id
  join ${changes} on ${inOrganizationIfNamed(changes.organizationId)} and ${changes.organizationId} = taken.organization_id
    and ${changes.id} = taken.change_id`

const claim = query<ClaimedDelivery>('claim_webhook_deliveries', () =>
  claimOf(ready, sql`${placeholder('limit')}::integer`),
)

const asked = arrayRows('asked', { id: 'text', share: 'integer' })

const claimOwn = query<ClaimedDelivery>('claim_webhook_deliveries_of_organization', () =>
  claimOf(asked.typed, sql`all`),
)

/** Number of due deliveries of a webhook and an organization. */
type Due = { organizationId: string; webhookId: string; isFailing: boolean; count: number }

// No server has all deliveries of a webhook, so none can stop at its share: each counts all that are due.
const findDue = (db: Database, except: string[], limit: number) =>
  findEverywhere<Due>(
    db,
    organizationId,
    (isAsked) => sql`
    select ${organizationId} as "organizationId", ${webhookId} as "webhookId",
      ${webhooks.failingSince} is not null as "isFailing", count(*)::integer as count
    from ${webhookDeliveries} join ${webhooks} on ${webhooks.id} = ${webhookId}
    where ${isAsked} and ${isDue} and ${isReady} and ${notInArray(webhooks.id, except)} group by 1, 2, 3 limit ${limit}`,
  )

async function claimEach(db: Database, { leaseSeconds, limit, batches, except }: Limits) {
  const left = new Map(batches.map(({ webhookId, size }) => [webhookId, size]))
  // As many as `share` allows, of all organizations of a webhook together.
  const takeShare = ({ webhookId, isFailing, count }: Due): number => {
    const free = left.get(webhookId) ?? firstBatchSize
    const taken = Math.min(count, isFailing ? Math.min(free, 1) : free)
    left.set(webhookId, isFailing ? 0 : free - taken)
    return taken
  }
  const claimed: ClaimedDelivery[] = []
  const found = groupBy(await findDue(db, except, limit), ({ organizationId }) => organizationId)
  for (const [organizationId, due] of found) {
    if (claimed.length >= limit) break
    const shares = due.map((each) => {
      return { id: each.webhookId, share: Math.min(takeShare(each), limit - claimed.length) }
    })
    claimed.push(...(await claimOwn(db, { organizationId, leaseSeconds, ...asked.values(shares) })))
  }
  return claimed
}

/** Claims due deliveries of webhooks that are not in `except`: a share of each webhook, oldest first, so that
 *  a large backlog or a slow receiver delays no other. No process claims them again until the lease ends. */
export function claimDeliveries(db: Database, limits: Limits): Promise<ClaimedDelivery[]> {
  if (mustClaimByOrganization(db)) return claimEach(db, limits)
  return claim(db, { ...limits, ...paced.values(limits.batches) })
}

const unsent = arrayRows('unsent', { organizationId, webhookId, id: changeId, attempts })

const release = query('give_back_webhook_deliveries', () => {
  const { cells, rows } = unsent
  return sql`
  update ${webhookDeliveries} set attempts = ${attempts} - 1, due_at = now() from ${rows}
  where ${inOrganizationIfNamed(organizationId)} and ${organizationId} = ${cells.organizationId} and ${webhookId} = ${cells.webhookId} and ${changeId} = ${cells.id}
    and ${attempts} = ${cells.attempts} and ${status} = 'pending'`
})

/** Returns claimed but unsent deliveries to the queue before their lease ends. Counts no attempt. */
export async function releaseDeliveries(db: Database, claimed: ClaimedDelivery[]): Promise<void> {
  await byOrganization(db, claimed, (own, organizationId) =>
    release(db, { organizationId, ...unsent.values(own) }),
  )
}
