import { sql } from 'drizzle-orm'
import { check, index, integer, pgEnum, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { dueColumns } from '../../engine/data/leased-jobs.ts'
import { createdAt, describedEnum, timestampMs, updatedAt } from '../../engine/database/columns.ts'
import { channels, integrations, modeColumn } from '../caller/table.ts'
import { changeType } from '../change/table.ts'

/** A deleted webhook keeps its row, because a transaction in progress may still refer to it. */
export const webhookStatus = pgEnum('webhook_status', ['enabled', 'disabled', 'deleted'])

/** Reasons why a webhook is disabled, and their meanings. */
export const disabledReasons = {
  GONE: 'Its endpoint answered 410.',
  FAILING: 'No delivery succeeded for five days.',
  REQUESTED: 'Disabled by a mutation.',
}

/** Endpoints at which channels and integrations receive changes. */
export const webhooks = pgTable(
  'webhooks',
  {
    id: text().primaryKey(),
    channelId: text('channel_id').references(() => channels.id),
    integrationId: text('integration_id').references(() => integrations.id),
    mode: modeColumn(),
    url: text().notNull(),
    /** Null: all, those that are added later too. */
    types: changeType().array(),
    status: webhookStatus().notNull().default('enabled'),
    disabledReason: text('disabled_reason').$type<keyof typeof disabledReasons>(),
    /** Signs messages. Stored in clear text, because signing needs it. */
    secret: text().notNull(),
    /** SHA-256 of the caller and of the idempotency key that the secret was made under. */
    idempotencyKey: text('idempotency_key'),
    /** SHA-256 of the request under that key. */
    requestHash: text('request_hash'),
    /** Also signs until `previousSecretUntil`, so that receivers can rotate without losing messages. */
    previousSecret: text('previous_secret'),
    previousSecretUntil: timestampMs('previous_secret_until'),
    /** Time since which all deliveries have failed; null while they succeed. */
    failingSince: timestampMs('failing_since'),
    /** End of the pause that the receiver asked for (`Retry-After`). */
    pausedUntil: timestampMs('paused_until'),
    /** Once it is enabled, time up to which deliveries that wait for a later try are still to be made due; null once all
     *  are. Those that were due after that have been, or have failed again since. */
    resumesUntil: timestampMs('resumes_until'),
    createdAt: createdAt(),
    /** Time of the last change of the row through Drizzle, such as another choice of types. */
    updatedAt: updatedAt(),
  },
  (webhook) => [
    index().on(webhook.channelId),
    index().on(webhook.integrationId),
    index('webhooks_resuming').on(webhook.id).where(sql`${webhook.resumesUntil} is not null`),
    check('webhooks_have_one_owner', sql`num_nonnulls(${webhook.channelId}, ${webhook.integrationId}) = 1`),
  ],
)

/** Statuses of a delivery, and their meanings. */
export const deliveryStatuses = {
  pending: 'Not yet sent, or being retried.',
  delivered: 'Accepted by the webhook.',
  dead: 'Given up after ten failed attempts over three days.',
}
export const webhookDeliveryStatus = describedEnum('webhook_delivery_status', deliveryStatuses)

/** Job queue: the delivery of one change to one webhook, written with it, and deleted before it. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    organizationId: text('organization_id').notNull(),
    webhookId: text('webhook_id')
      .notNull()
      .references(() => webhooks.id),
    changeId: text('change_id').notNull(),
    status: webhookDeliveryStatus().notNull().default('pending'),
    ...dueColumns(),
    /** HTTP status of the last response. */
    lastStatus: integer('last_status'),
    createdAt: createdAt(),
    deliveredAt: timestampMs('delivered_at'),
  },
  (delivery) => [
    primaryKey({ columns: [delivery.webhookId, delivery.changeId, delivery.organizationId] }),
    index('webhook_deliveries_due')
      .on(delivery.webhookId, delivery.dueAt, delivery.changeId)
      .where(sql`${delivery.status} = 'pending'`),
    index('webhook_deliveries_status').on(delivery.status, delivery.webhookId, delivery.changeId),
  ],
)

export type Webhook = typeof webhooks.$inferSelect
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect
