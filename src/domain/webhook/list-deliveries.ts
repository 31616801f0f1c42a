import { and, desc, eq, lt } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { type Change, changes } from '../change/table.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveries } from './table.ts'

/** A delivery, and what is delivered. */
export type Told = { delivery: WebhookDelivery; change: Change }

/** Deliveries and their changes, to be narrowed. */
export const selectTold = (db: Connection) =>
  db
    .select({ delivery: webhookDeliveries, change: changes })
    .from(webhookDeliveries)
    .innerJoin(changes, eq(changes.id, webhookDeliveries.changeId))

type Page = { status: WebhookDelivery['status'] | undefined; after: string | undefined; limit: number }

/** What was, is or is to be sent to a webhook, the newest change first: identifiers are ordered by time. `after`: the
 *  identifier of a change. */
export const listDeliveries = (
  db: Connection,
  { id }: Pick<Webhook, 'id'>,
  { status, after, limit }: Page,
): Promise<Told[]> =>
  selectTold(db)
    .where(
      and(
        eq(webhookDeliveries.webhookId, id),
        status && eq(webhookDeliveries.status, status),
        after ? lt(webhookDeliveries.changeId, after) : undefined,
      ),
    )
    .orderBy(desc(webhookDeliveries.changeId))
    .limit(limit)
