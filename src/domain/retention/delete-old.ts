import { type SQL, sql } from 'drizzle-orm'
import { anyOf, inOrganization, ofOrganization, query } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { transaction } from '../../engine/database/transaction.ts'
import { channelOrganizations, integrations } from '../caller/table.ts'
import { changes, droppedChanges, droppedSequences, webhookDeliveries, webhooks } from '../change/table.ts'
import { checkIns } from '../check-in/table.ts'
import { idsFrom } from '../contract/ids.ts'
import { payments, providerEvents } from '../payment/table.ts'
import { stock } from '../stock/table.ts'
import { tickets } from '../ticket/table.ts'
import type { RetentionConfig } from './settings.ts'

// Rows of tables that only grow, deleted by age: a batch of one organization at a time, the oldest first. Rows that
// another process deletes are left to it.

const parameter = sql.placeholder
const batchSize = sql.raw('1000')
const before = parameter('before')

const deletingByTime = (name: string, table: typeof checkIns | typeof providerEvents, key: SQL) =>
  query(
    name,
    () => sql`
    delete from ${table} where ${inOrganization(table.organizationId)} and (${key}) in (
      select ${key} from ${table}
      where ${ofOrganization(table.organizationId)} and ${table.createdAt} < ${before}::text::timestamptz
      order by ${table.createdAt} limit ${batchSize} for update skip locked)
    returning ${table.createdAt}`,
  )
const deleteCheckIns = deletingByTime('delete_old_check_ins', checkIns, sql`${checkIns.id}`)
// An event that is delivered again after that is applied again, which changes nothing.
const deleteProviderEvents = deletingByTime(
  'delete_old_provider_events',
  providerEvents,
  sql`${providerEvents.provider}, ${providerEvents.id}`,
)

const { organizationId, webhookId, changeId, status } = webhookDeliveries

// Webhooks that may have heard of the organization: of channels that it ever granted, and of its integrations.
const hearsOfIt = sql`(${webhooks.channelId} = any(array(
    select ${channelOrganizations.channelId} from ${channelOrganizations}
    where ${ofOrganization(channelOrganizations.organizationId)}))
  or ${webhooks.integrationId} = any(array(
    select ${integrations.id} from ${integrations} where ${ofOrganization(integrations.organizationId)})))`

// Deliveries of old changes to a webhook, by its key, which is ordered by their time.
const oldDeliveries = (condition: SQL, limit: SQL) => sql`(
  select ${webhookId}, ${changeId} from ${webhookDeliveries}
  where ${inOrganization(organizationId)} and ${webhookId} = ${webhooks.id} and ${changeId} < ${before} and ${condition}
  order by ${changeId} limit ${limit}) as old`

// Keeps the deliveries that an enabled webhook waits for. A disabled one is not sent anything that old; its owner finds
// it in the feed.
const deleteWebhookDeliveries = query(
  'delete_old_webhook_deliveries',
  () => sql`
  delete from ${webhookDeliveries} using (
    select old.* from ${webhooks} cross join lateral ${oldDeliveries(
      sql`(${status} <> 'pending' or ${webhooks.status} <> 'enabled')`,
      sql`${batchSize} for update skip locked`,
    )}
    where ${hearsOfIt} limit ${batchSize}
  ) as old
  where ${inOrganization(organizationId)} and ${webhookId} = old.webhook_id and ${changeId} = old.change_id
  returning ${changeId}`,
)

// Changes that have a position and are older than every change that still has a delivery.
const lockOldChanges = query<{ id: string }>(
  'lock_old_changes',
  () => sql`
  select ${changes.id} from ${changes}
  where ${ofOrganization(changes.organizationId)} and ${changes.id} < ${before} and ${changes.feedPosition} is not null
    and ${changes.id} < coalesce((
      select min(old.change_id) from ${webhooks} cross join lateral ${oldDeliveries(sql`true`, sql`1`)}
      where ${hearsOfIt}), ${before})
  order by ${changes.id} limit ${batchSize} for update skip locked`,
)
const areThese = sql`${inOrganization(changes.organizationId)} and ${anyOf(changes.id, 'ids')}`

// Notes where each audience's feed begins from now on.
const keepCursors = query(
  'keep_cursors',
  () => sql`
  insert into ${droppedChanges} as kept (organization_id, mode, audience, feed_position, id)
  select distinct on (mode, coalesce(channel_id, '')) organization_id, mode, coalesce(channel_id, ''), feed_position, id
  from ${changes} where ${areThese} order by mode, coalesce(channel_id, ''), feed_position desc
  on conflict (organization_id, mode, audience) do update set feed_position = excluded.feed_position, id = excluded.id
    where kept.feed_position < excluded.feed_position`,
)

const isThere = (table: typeof payments | typeof tickets | typeof stock) =>
  sql`exists (select from ${table} where ${inOrganization(table.organizationId)} and ${table.id} = gone.subject_id
    and ${table.mode} = gone.mode)`

// The last sequence numbers of subjects that are still there, and have no later change.
const keepSequences = query(
  'keep_sequences',
  () => sql`
  insert into ${droppedSequences} as kept (organization_id, subject_id, mode, sequence)
  select ${parameter('organizationId')}::text, subject_id, mode, latest from (
    select subject_id, mode, max(sequence) as latest from ${changes} where ${areThese} group by subject_id, mode
  ) as gone
  where (${isThere(payments)} or ${isThere(tickets)} or ${isThere(stock)})
    and not exists (select from ${changes} where ${inOrganization(changes.organizationId)}
      and ${changes.subjectId} = gone.subject_id and ${changes.mode} = gone.mode and ${changes.sequence} > gone.latest)
  order by subject_id, mode
  on conflict (subject_id, mode, organization_id) do update set sequence = greatest(kept.sequence, excluded.sequence)`,
)

const deleteThese = query('delete_changes', () => sql`delete from ${changes} where ${areThese}`)

const deleteChanges = (db: Database, old: { organizationId: string; before: string }): Promise<unknown[]> =>
  transaction(db, async (tx) => {
    const found = await lockOldChanges(tx, old)
    if (found.length === 0) return found
    const these = { organizationId: old.organizationId, ids: found.map(({ id }) => id) }
    await keepCursors(tx, these)
    await keepSequences(tx, these)
    await deleteThese(tx, these)
    return found
  })

// In this order: a change goes after the deliveries of it.
const deletions = {
  webhook_deliveries: deleteWebhookDeliveries,
  changes: deleteChanges,
  check_ins: deleteCheckIns,
  provider_events: deleteProviderEvents,
}
type OldTable = keyof typeof deletions

const msAgo = (setting: keyof RetentionConfig, unit: 'day' | 'month') =>
  sql`(extract(epoch from now() - ${parameter(setting)}::integer * ${sql.raw(`interval '1 ${unit}'`)}) * 1000)::float8`

// Times before which rows are old, in milliseconds since 1970; null of what is kept for ever.
const findTimes = query<Record<OldTable, number | null>>(
  'times_of_old_rows',
  () => sql`select ${msAgo('retainWebhookDays', 'day')} as webhook_deliveries,
    ${msAgo('retainChangeMonths', 'month')} as changes, ${msAgo('retainCheckInMonths', 'month')} as check_ins,
    ${msAgo('retainProviderEventDays', 'day')} as provider_events`,
)

/** Returns a deletion for each table of which an organization has rows that are old by these settings. Each deletes
 *  the next batch, in a transaction of its own, and returns the number of its rows. Of changes they leave what
 *  sequences and cursors need: the numbers of a subject go on, and whoever has read the last change that is gone has
 *  missed nothing (DECISIONS 174, 175). */
export async function deletionsOf(db: Database, organizationId: string, settings: RetentionConfig) {
  const [times] = await findTimes(db, settings)
  return (Object.keys(deletions) as OldTable[]).flatMap((table) => {
    const time = times?.[table] ?? null
    if (time === null) return []
    const isById = table === 'webhook_deliveries' || table === 'changes'
    const before = isById ? idsFrom('chg', Math.floor(time)) : new Date(time).toISOString()
    return [
      { table, deleteBatch: async () => (await deletions[table](db, { organizationId, before })).length },
    ]
  })
}
