import { type SQL, sql } from 'drizzle-orm'
import { encodeTime } from 'ulid'
import { preparedSql } from '../../data/prepared.ts'
import { nowMs } from '../../database/clock.ts'
import type { Database } from '../../database/database.ts'
import { isDistributed } from '../../database/distributed.ts'
import { providerEvents } from '../payment/table.ts'
import { webhookDeliveries, webhooks } from '../webhook/table.ts'

const batchSize = 1_000

const before = sql`now() - ${sql.placeholder('days')}::integer * interval '1 day'`

const batch = sql.raw(String(batchSize))
// Rows that another process deletes are left to it. A distributed database waits for them: it skips none of
// several organizations.
const skipLocked = sql`for update skip locked`

const deletingEvents = (name: string, onLocked: SQL) => {
  const { organizationId, provider, id } = providerEvents
  return preparedSql<{ id: string }>(
    name,
    () => sql`delete from ${providerEvents} where (${organizationId}, ${provider}, ${id}) in (
      select old.organization_id, old.provider, old.id from ${providerEvents} as old where old.created_at < ${before}
      order by old.created_at limit ${batch} ${onLocked})
    returning ${id}`,
  )
}
const deleteEvents = deletingEvents('delete_old_provider_events', skipLocked)
const deleteEventsAnywhere = deletingEvents('delete_old_provider_events_anywhere', sql``)

/** Deletes events of providers that were received more than `days` ago, up to a batch. Returns their number.
 *  One that comes again after that is applied again, which changes nothing. */
export const deleteProviderEvents = async (db: Database, days: number): Promise<number> =>
  (await (isDistributed(db) ? deleteEventsAnywhere : deleteEvents)(db, { days })).length

const deletingDeliveries = (name: string, onLocked: SQL) => {
  const { organizationId, webhookId, changeId } = webhookDeliveries
  return preparedSql<{ id: string }>(
    name,
    () => sql`delete from ${webhookDeliveries} where ${webhookId} = ${sql.placeholder('webhookId')}
      and (${organizationId}, ${changeId}) in (
        select old.organization_id, old.change_id from ${webhookDeliveries} as old
        where old.webhook_id = ${sql.placeholder('webhookId')} and old.change_id < ${sql.placeholder('beforeId')}
          and old.created_at < ${before} and old.status <> 'pending'
        order by old.change_id limit ${batch} ${onLocked})
    returning ${changeId} as id`,
  )
}
const deleteDeliveries = deletingDeliveries('delete_old_webhook_deliveries', skipLocked)
const deleteDeliveriesAnywhere = deletingDeliveries('delete_old_webhook_deliveries_anywhere', sql``)

/** Lists all webhooks, deleted ones too, with the identifier that changes of `days` ago have: identifiers are
 *  ordered by time, so that the primary key leads to what is old. */
export async function listWebhooks(db: Database, days: number): Promise<{ id: string; beforeId: string }[]> {
  const rows = await db
    .select({ id: webhooks.id, now: sql<number>`(extract(epoch from ${nowMs}) * 1000)::float8` })
    .from(webhooks)
  return rows.map(({ id, now }) => ({
    id,
    beforeId: `chg_${encodeTime(now - days * 86_400_000, 10).toLowerCase()}`,
  }))
}

/** Deletes deliveries to a webhook that were delivered or given up, of changes of more than `days` ago, up to
 *  a batch. Returns their number. */
export const deleteWebhookDeliveries = async (
  db: Database,
  { id, beforeId }: { id: string; beforeId: string },
  days: number,
): Promise<number> => {
  const remove = isDistributed(db) ? deleteDeliveriesAnywhere : deleteDeliveries
  return (await remove(db, { webhookId: id, beforeId, days })).length
}
