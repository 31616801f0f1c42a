import { sql } from 'drizzle-orm'
import { check, index, integer, pgEnum, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { channels, integrations } from '../../auth/table.ts'
import { dueColumns } from '../../data/leased-jobs.ts'
import { createdAt, timestampMs } from '../../database/columns.ts'
import { changes, changeType } from '../change/table.ts'

/** One that is deleted keeps its row: a change on its way into the outbox may still refer to it, and must not fail. */
export const webhookStatus = pgEnum('webhook_status', ['enabled', 'disabled', 'deleted'])

/** An address that a channel or an integration wants to be told at. */
export const webhooks = pgTable(
  'webhooks',
  {
    id: text().primaryKey(),
    channelId: text('channel_id').references(() => channels.id),
    integrationId: text('integration_id').references(() => integrations.id),
    url: text().notNull(),
    types: changeType().array().notNull(),
    status: webhookStatus().notNull().default('enabled'),
    /** Why it was disabled: a code such as `GONE`. */
    disabledReason: text('disabled_reason'),
    /** Signs what is sent. It is kept as it is, because signing needs it. */
    secret: text().notNull(),
    /** Signs as well until `previousSecretUntil`, so that rotation loses nothing. */
    previousSecret: text('previous_secret'),
    previousSecretUntil: timestampMs('previous_secret_until'),
    /** Since when nothing got through; null as long as it does. */
    failingSince: timestampMs('failing_since'),
    /** Until when it asked to be left alone. */
    pausedUntil: timestampMs('paused_until'),
    createdAt: createdAt(),
  },
  (webhook) => [
    index().on(webhook.channelId),
    index().on(webhook.integrationId),
    check('webhooks_have_one_owner', sql`num_nonnulls(${webhook.channelId}, ${webhook.integrationId}) = 1`),
  ],
)

export const webhookDeliveryStatus = pgEnum('webhook_delivery_status', ['pending', 'delivered', 'dead'])

/** One change on its way to one webhook. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    webhookId: text('webhook_id')
      .notNull()
      .references(() => webhooks.id),
    changeId: text('change_id')
      .notNull()
      .references(() => changes.id),
    status: webhookDeliveryStatus().notNull().default('pending'),
    ...dueColumns(),
    /** The HTTP status of the last answer. */
    lastStatus: integer('last_status'),
    createdAt: createdAt(),
    deliveredAt: timestampMs('delivered_at'),
  },
  (delivery) => [
    primaryKey({ columns: [delivery.webhookId, delivery.changeId] }),
    index('webhook_deliveries_due')
      .on(delivery.webhookId, delivery.dueAt)
      .where(sql`${delivery.status} = 'pending'`),
    index('webhook_deliveries_dead')
      .on(delivery.webhookId, delivery.changeId)
      .where(sql`${delivery.status} = 'dead'`),
  ],
)

export type Webhook = typeof webhooks.$inferSelect
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect
