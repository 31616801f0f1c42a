import { type SQLWrapper, sql } from 'drizzle-orm'
import {
  bigint,
  check,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { dueColumns } from '../../engine/data/leased-jobs.ts'
import { createdAt, describedEnum, timestampMs, updatedAt } from '../../engine/database/columns.ts'
import { channels, integrations, modeColumn } from '../caller/table.ts'
import { organizationId, organizations } from '../organization/table.ts'

/** Types of change that clients can receive, and their meanings (DECISIONS, changes). */
export const changeDescriptions = {
  'payment.paid': 'Payment that was paid.',
  'payment.failed': 'Payment that failed. Its tickets are no longer held.',
  'payment.expired': 'Payment that was not paid in time. Its tickets are no longer held.',
  'payment.refunded': 'Payment of which all or part was refunded.',
  'ticket.activated': 'Ticket that was paid, and is now valid.',
  'ticket.cancelled': 'Ticket that was cancelled after payment.',
  'ticket.entered': 'Ticket with which somebody entered.',
  'ticket.updated': 'Ticket whose attendee was corrected or erased on request, or with which people left.',
  'ticket.transferred': 'Ticket that was given to another person. Its former code is no longer valid.',
  'ticket.supplement_redeemed': 'Ticket of which a supplement was handed out.',
  'rate.sold_out': 'Ticket rate that has no places left.',
  'rate.available': 'Ticket rate that has places left again.',
}

export const changeType = describedEnum('change_type', changeDescriptions)

/** Last position assigned in each organization's feed. The row is inserted on first use, and locked while
 *  positions are assigned. */
export const changeFeeds = pgTable('change_feeds', {
  organizationId: text('organization_id')
    .primaryKey()
    .references(() => organizations.id),
  lastPosition: bigint('last_position', { mode: 'number' }).notNull().default(0),
})

/** Part of a feed: changes of an organization for an audience, a channel or '' for all. Only feeds of channels name it, so
 *  that each reads the index in its order. */
export const feedPart = (organizationId: SQLWrapper, audience: SQLWrapper) =>
  sql`(${organizationId} || ' ' || ${audience})`

/** Outbox: changes, written in the transaction that makes them. Contains no personal data. */
export const changes = pgTable(
  'changes',
  {
    /** Also the `webhook-id` of webhooks. */
    id: text().notNull(),
    type: changeType().notNull(),
    /** The payment, ticket or rate that changed. */
    subjectId: text('subject_id').notNull(),
    /** Number of the change among those of its subject in its mode: 1, 2, 3. */
    sequence: integer().notNull(),
    organizationId: organizationId(),
    /** Channel that it concerns; null for all channels that the organization has granted. */
    channelId: text('channel_id').references(() => channels.id),
    /** Clients of this mode alone hear of it. */
    mode: modeColumn(),
    /** Position in the organization's feed: 1, 2, 3, with few gaps. Assigned after the commit, and null until
     *  then; later assignments are always higher. */
    feedPosition: bigint('feed_position', { mode: 'number' }),
    /** State that clients receive, with REST field names. Amounts in major units. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
  },
  // Indexes on positions are partial, so that sales, which insert without a position, need not update them. A
  // partial unique index is also no key, so that assigning a position does not wait for transactions that
  // refer to the row.
  (change) => [
    primaryKey({ columns: [change.id, change.organizationId] }),
    uniqueIndex('changes_of_subject_in_order').on(
      change.subjectId,
      change.mode,
      change.sequence,
      change.organizationId,
    ),
    uniqueIndex('changes_in_feed_by_mode')
      .on(change.organizationId, change.mode, change.feedPosition)
      .where(sql`${change.feedPosition} is not null`),
    index('changes_of_audience_by_mode')
      .on(
        feedPart(change.organizationId, sql`coalesce(${change.channelId}, '')`),
        change.mode,
        change.feedPosition,
      )
      .where(sql`${change.feedPosition} is not null`),
    index('changes_without_position')
      .on(change.organizationId, change.sequence)
      .where(sql`${change.feedPosition} is null`),
  ],
)

/** The last change of each audience among those that were deleted by age: whoever read it has missed nothing.
 *  `audience` is the channel, or empty for all channels of the organization. */
export const droppedChanges = pgTable(
  'dropped_changes',
  {
    organizationId: organizationId(),
    mode: modeColumn(),
    audience: text().notNull(),
    feedPosition: bigint('feed_position', { mode: 'number' }).notNull(),
    id: text().notNull(),
  },
  (dropped) => [primaryKey({ columns: [dropped.organizationId, dropped.mode, dropped.audience] })],
)

/** The last sequence number of each subject among changes that were deleted, from which its next one goes on. */
export const droppedSequences = pgTable(
  'dropped_sequences',
  {
    organizationId: organizationId(),
    subjectId: text('subject_id').notNull(),
    mode: modeColumn(),
    sequence: integer().notNull(),
  },
  (dropped) => [primaryKey({ columns: [dropped.subjectId, dropped.mode, dropped.organizationId] })],
)

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
export type Change = typeof changes.$inferSelect

/** A change to be written to the outbox; a live one unless it has a mode. */
export type NewChange = Pick<Change, 'type' | 'subjectId' | 'organizationId' | 'channelId' | 'data'> &
  Partial<Pick<Change, 'mode'>>

/** Builds the change of a row, with its state as clients receive it and facts of the change itself. */
export const changeOf = (
  type: NewChange['type'],
  { id, organizationId, channelId, mode }: Pick<Change, 'id' | 'organizationId' | 'channelId' | 'mode'>,
  state: object,
  facts: object = {},
): NewChange => ({
  type,
  subjectId: id,
  organizationId,
  channelId,
  mode,
  data: { ...(mode === 'test' && { test: true }), ...state, ...facts },
})

/** Names under which changes are announced: of an organization for its integrations, of one for all channels
 *  that it has granted, of a channel. */
export const forAll = (organizationId: string) => `all ${organizationId}`
export const forGranted = (organizationId: string) => `granted ${organizationId}`
export const forChannel = (channelId: string) => `channel ${channelId}`

/** Names of those who hear of a change, to announce it by. */
export const audiencesOf = ({ organizationId, channelId }: NewChange): string[] => [
  forAll(organizationId),
  channelId === null ? forGranted(organizationId) : forChannel(channelId),
]
