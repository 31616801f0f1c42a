import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { channels } from '../../auth/table.ts'
import { createdAt } from '../../database/columns.ts'
import { organizations } from '../organization/table.ts'

/** What clients are told of (DECISIONS 7). */
export const changeType = pgEnum('change_type', [
  'payment.paid',
  'payment.failed',
  'payment.expired',
  'payment.refunded',
  'ticket.activated',
  'ticket.cancelled',
  'ticket.entered',
  'rate.sold_out',
  'rate.available',
])

/** The last position that was given in each organization's feed. A row is locked while positions of that feed are given,
 *  and comes to be with the first. */
export const changeFeeds = pgTable('change_feeds', {
  organizationId: text('organization_id')
    .primaryKey()
    .references(() => organizations.id),
  lastPosition: bigint('last_position', { mode: 'number' }).notNull().default(0),
})

/** The outbox: what has changed, written in the transaction that changed it. Nothing of a person is in it. */
export const changes = pgTable(
  'changes',
  {
    /** What a webhook is known by, too: `webhook-id`. */
    id: text().primaryKey(),
    type: changeType().notNull(),
    /** The payment, ticket or rate that has changed. */
    subjectId: text('subject_id').notNull(),
    /** Counts the changes of one subject: 1, 2, 3. */
    sequence: integer().notNull(),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    /** The channel that it concerns; null for every channel that the organization granted. */
    channelId: text('channel_id').references(() => channels.id),
    /** Its place among the changes of its organization: 1, 2, 3, mostly without gaps. Given once it is committed, and
     *  null until then: what is given a position later never has a lower one. */
    feedPosition: bigint('feed_position', { mode: 'number' }),
    /** What a client is told, in the words of REST. Amounts in major units. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
  },
  // Those of positions are of what has one: the rest is written without them, in the transactions that sell. And what
  // is unique in part of the rows is no key, so that giving a position waits for nobody who refers to the row.
  (change) => [
    uniqueIndex('changes_of_subject').on(change.subjectId, change.sequence),
    uniqueIndex('changes_in_feed')
      .on(change.organizationId, change.feedPosition)
      .where(sql`${change.feedPosition} is not null`),
    index('changes_of_audience')
      .on(change.organizationId, sql`coalesce(${change.channelId}, '')`, change.feedPosition)
      .where(sql`${change.feedPosition} is not null`),
    index('changes_without_position')
      .on(change.organizationId, change.sequence)
      .where(sql`${change.feedPosition} is null`),
  ],
)

export type Change = typeof changes.$inferSelect

/** A change that is to be told. */
export type NewChange = Pick<Change, 'type' | 'subjectId' | 'organizationId' | 'channelId' | 'data'>
