import { sql } from 'drizzle-orm'
import {
  bigint,
  customType,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { channels } from '../access/table.ts'
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

const transactionId = customType<{ data: string }>({ dataType: () => 'xid8' })

/** The outbox: what has changed, written in the transaction that changed it. Nothing of a person is in it. */
export const changes = pgTable(
  'changes',
  {
    /** What a webhook is known by, too: `webhook-id`. */
    id: text().primaryKey(),
    /** The transaction that wrote it. Positions are given out before transactions end, and these tell which have. */
    transactionId: transactionId('transaction_id').notNull().default(sql`pg_current_xact_id()`),
    position: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
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
    /** What a client is told, in the words of REST. Amounts in major units. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (change) => [
    uniqueIndex('changes_of_subject').on(change.subjectId, change.sequence),
    index('changes_of_organization').on(change.organizationId, change.transactionId, change.position),
    index('changes_of_every_channel')
      .on(change.organizationId, change.transactionId, change.position)
      .where(sql`${change.channelId} is null`),
    index('changes_of_channel').on(change.channelId, change.transactionId, change.position),
  ],
)

export type Change = typeof changes.$inferSelect
