import { sql } from 'drizzle-orm'
import { encodeTime } from 'ulid'
import { preparedSql } from '../../data/prepared.ts'
import { nowMs } from '../../database/clock.ts'
import type { Database } from '../../database/database.ts'
import { providerEvents } from '../payment/table.ts'
import { webhookDeliveries, webhooks } from '../webhook/table.ts'

const batchSize = 1_000

const before = sql`now() - ${sql.placeholder('days')}::integer * interval '1 day'`

const deleteEvents = preparedSql<{ id: string }>(
  'delete_old_provider_events',
  () => sql`delete from ${providerEvents} where (${providerEvents.provider}, ${providerEvents.id}) in (
    select old.provider, old.id from ${providerEvents} as old where old.created_at < ${before}
    order by old.created_at limit ${sql.raw(String(batchSize))} for update skip locked)
  returning ${providerEvents.id}`,
)

/** Deletes events of providers that were received more than `days` ago, up to a batch. Returns their number.
 *  One that comes again after that is applied again, which changes nothing. */
export const deleteProviderEvents = async (db: Database, days: number): Promise<number> =>
  (await deleteEvents(db, { days })).length

const deleteDeliveries = preparedSql<{ id: string }>(
  'delete_old_webhook_deliveries',
  () => sql`delete from ${webhookDeliveries} where ${webhookDeliveries.webhookId} = ${sql.placeholder('webhookId')}
    and ${webhookDeliveries.changeId} in (
      select old.change_id from ${webhookDeliveries} as old
      where old.webhook_id = ${sql.placeholder('webhookId')} and old.change_id < ${sql.placeholder('beforeId')}
        and old.created_at < ${before} and old.status <> 'pending'
      order by old.change_id limit ${sql.raw(String(batchSize))} for update skip locked)
  returning ${webhookDeliveries.changeId} as id`,
)

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
): Promise<number> => (await deleteDeliveries(db, { webhookId: id, beforeId, days })).length
