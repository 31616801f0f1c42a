import { and, desc, eq, lt } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { type Change, changes } from '../change/table.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveries } from './table.ts'

/** A delivery and the change that it delivers. */
export type DeliveryWithChange = { delivery: WebhookDelivery; change: Change }

/** Starts a query for deliveries with their changes. */
export const selectDeliveries = (db: Connection) =>
  db
    .select({ delivery: webhookDeliveries, change: changes })
    .from(webhookDeliveries)
    .innerJoin(changes, eq(changes.id, webhookDeliveries.changeId))

type Page = { status: WebhookDelivery['status'] | undefined; after: string | undefined; limit: number }

/** Lists the deliveries to a webhook, newest change first, as change identifiers are ordered by time. `after`
 *  is the identifier of a change. */
export const listDeliveries = (
  db: Connection,
  { id }: Pick<Webhook, 'id'>,
  { status, after, limit }: Page,
): Promise<DeliveryWithChange[]> =>
  selectDeliveries(db)
    .where(
      and(
        eq(webhookDeliveries.webhookId, id),
        status && eq(webhookDeliveries.status, status),
        after ? lt(webhookDeliveries.changeId, after) : undefined,
      ),
    )
    .orderBy(desc(webhookDeliveries.changeId))
    .limit(limit)
