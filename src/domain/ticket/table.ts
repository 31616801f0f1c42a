import { getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import {
  check,
  date,
  type ExtraConfigColumn,
  foreignKey,
  index,
  integer,
  jsonb,
  type PgColumn,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import {
  createdAt,
  minorUnits,
  organizationForeignKey,
  timestampMs,
  updatedAt,
} from '../../engine/database/columns.ts'
import { modeColumn } from '../caller/table.ts'
import { discounts } from '../discount/table.ts'
import { isPaymentOf, payments } from '../payment/table.ts'
import { prices, type QuestionOption, type Supplement, ticketRates } from '../ticket-rate/table.ts'

/** Ways of selling: by a channel's checkout, at the door, or given away. */
export const saleType = pgEnum('sale_type', ['online', 'box_office', 'invitation'])
export const ticketStatus = pgEnum('ticket_status', ['held', 'active', 'cancelled', 'expired'])

export type Answer = { questionId: string; text?: string; checked?: boolean; option?: QuestionOption }
/** Supplement as it was sold. Amounts in minor units. */
export type SoldSupplement = Omit<Supplement, 'id' | 'ticketRateId' | 'position' | 'removed' | 'currency'> & {
  supplementId: string
  /** Number of items that were redeemed. */
  used: number
}
/** Completed refund, as the checkout response shows it. Minor units; `at` in ISO 8601. */
export type Refund = { channelId: string; amount: number; at: string }

/** Maximum number of tickets that are given away at once. No payment has more. */
export const maxInvitations = 100

const amount = (name: string) => minorUnits(name).notNull()

/** Condition that a ticket has not expired. */
export const isNotExpired = (ended: ExtraConfigColumn | PgColumn | SQL): SQL =>
  sql`${ended} is distinct from 'expired'`

// Columns that the indexes of lists begin with: a list is read channel by channel.
/** First column of the index that orders a list of what a channel sold for an organization. An expression that only this
 *  list names: by the organization alone, no statement is led through all that it sold. */
export const listPart = (
  list: 'created' | 'name' | 'phone',
  { organizationId, channelId }: { organizationId: SQLWrapper; channelId: SQLWrapper },
) => sql`(${sql.raw(`'${list} '`)} || ${organizationId} || ' ' || ${channelId})`

const ofChannel = (ticket: Record<'organizationId' | 'mode' | 'channelId', ExtraConfigColumn>) =>
  [ticket.organizationId, ticket.mode, ticket.channelId] as const

/** Tickets that are held or were sold, with what they cost, whom they admit, and who is inside. */
export const tickets = pgTable(
  'tickets',
  {
    id: text().notNull(),
    paymentId: text('payment_id').notNull(),
    /** Index of the ticket in its checkout. */
    position: integer().notNull(),
    organizationId: text('organization_id').notNull(),
    channelId: text('channel_id').notNull(),
    eventId: text('event_id').notNull(),
    ticketRateId: text('ticket_rate_id').notNull(),
    priceId: text('price_id').notNull(),
    status: ticketStatus().notNull().default('held'),
    /** `status` of a ticket that has ended, else null: indexes name this, so that paying changes none. */
    ended: ticketStatus().generatedAlwaysAs(
      sql`case when status in ('cancelled', 'expired') then status end`,
    ),
    saleType: saleType('sale_type').notNull().default('online'),
    mode: modeColumn(),
    qrCode: text('qr_code').notNull(),
    currency: text().notNull(),
    /** Price before the discount. */
    priceAmount: amount('price_amount'),
    discountId: text('discount_id').references(() => discounts.id),
    discountAmount: amount('discount_amount').default(0),
    supplementsAmount: amount('supplements_amount'),
    organizationFeeAmount: amount('organization_fee_amount'),
    platformFeeAmount: amount('platform_fee_amount'),
    warrantyAmount: amount('warranty_amount'),
    totalAmount: amount('total_amount'),
    refundedAmount: amount('refunded_amount').default(0),
    refundedAt: timestampMs('refunded_at'),
    refunds: jsonb().$type<Refund[]>().notNull().default([]),
    /** Hours before the event at which the warranty ends; 0 without a warranty. */
    warrantyHours: integer('warranty_hours').notNull(),
    fullName: text('full_name').notNull(),
    /** `fullName` without case and accents (see `searchNameOf`), which searches match by prefix. */
    searchName: text('search_name').notNull().default(''),
    email: text().notNull(),
    phone: text(),
    gender: text(),
    birthday: date({ mode: 'string' }),
    address: text(),
    postalCode: text('postal_code'),
    countryCode: text('country_code'),
    personalDocumentType: text('personal_document_type'),
    personalDocumentNumber: text('personal_document_number'),
    answers: jsonb().$type<Answer[]>().notNull().default([]),
    supplements: jsonb().$type<SoldSupplement[]>().notNull().default([]),
    /** ISO 639-1 code of the language that the attendee is addressed in. */
    language: text(),
    /** Identifier that the channel has for whoever referred the buyer. */
    referralId: text('referral_id'),
    metadata: jsonb().$type<Record<string, unknown>>(),
    /** Number of people that the ticket admits. */
    admits: integer().notNull().default(1),
    /** Number of people inside now: a scan out decrements it. */
    entered: integer().notNull().default(0),
    /** Largest number of people that were ever inside at once. */
    peakAttendance: integer('peak_attendance').notNull().default(0),
    lastEntryAt: timestampMs('last_entry_at'),
    firstEntryAt: timestampMs('first_entry_at'),
    /** Unguessable part of the URL of its PDF, which is told once it is paid. */
    documentToken: text('document_token').notNull(),
    cancelledAt: timestampMs('cancelled_at'),
    invoiceReference: text('invoice_reference'),
    correctiveInvoiceReferences: text('corrective_invoice_references').array().notNull().default([]),
    createdAt: createdAt(),
    activatedAt: timestampMs('activated_at'),
    /** Day of `activatedAt` on the venue's clock as it was then. */
    soldOn: date('sold_on', { mode: 'string' }),
    updatedAt: updatedAt(),
  },
  (ticket) => [
    primaryKey({ columns: [ticket.id, ticket.organizationId] }),
    // Composite keys check in one lookup what single ones would need several for: organization and channel
    // are those of the payment, event and organization are those of the rate, and the price belongs to the rate.
    foreignKey({
      name: 'tickets_of_their_payment',
      columns: [ticket.paymentId, ticket.organizationId, ticket.channelId],
      foreignColumns: [payments.id, payments.organizationId, payments.channelId],
    }),
    foreignKey({
      name: 'tickets_of_the_event_of_their_rate',
      columns: [ticket.ticketRateId, ticket.eventId, ticket.organizationId],
      foreignColumns: [ticketRates.id, ticketRates.eventId, ticketRates.organizationId],
    }),
    foreignKey({
      name: 'tickets_at_a_price_of_their_rate',
      columns: [ticket.priceId, ticket.ticketRateId],
      foreignColumns: [prices.id, prices.ticketRateId],
    }),
    // Indexes of tickets. Lists read most of them in order (../lists/search.ts), for each channel of an
    // organization, in either mode. Nothing that paying or scanning changes is in any of them, nor in the
    // predicate of one, so that these updates are heap-only and write no index. Identifiers would be a third
    // of an index by time, so lists sort the few tickets of the same millisecond themselves. Any number has
    // the same name.
    index().on(ticket.paymentId, ticket.position),
    index('tickets_created').on(listPart('created', ticket), ticket.mode, ticket.createdAt),
    index('tickets_name').on(
      listPart('name', ticket),
      ticket.mode,
      sql`${ticket.searchName} collate "C"`,
      ticket.id,
    ),
    index('tickets_phone')
      .on(listPart('phone', ticket), ticket.mode, sql`${ticket.phone} collate "C"`, ticket.id)
      .where(sql`${ticket.phone} is not null`),
    index('tickets_ended_created')
      .on(ticket.ended, ...ofChannel(ticket), ticket.createdAt)
      .where(sql`${ticket.ended} is not null`),
    index('tickets_rate_created').on(ticket.ticketRateId, ticket.mode, ticket.channelId, ticket.createdAt),
    index('tickets_event_created').on(ticket.eventId, ticket.mode, ticket.channelId, ticket.createdAt),
    index('tickets_email_created').on(sql`lower(${ticket.email})`, ...ofChannel(ticket), ticket.createdAt),
    index('tickets_referral_created')
      .on(ticket.referralId, ...ofChannel(ticket), ticket.createdAt)
      .where(sql`${ticket.referralId} is not null`),
    // The codes of an expired checkout can be used again, so that the channel can retry with them. Test
    // tickets have codes of their own.
    uniqueIndex('tickets_code_of_event')
      .on(ticket.qrCode, ticket.eventId, ticket.mode, ticket.organizationId)
      .where(isNotExpired(ticket.ended)),
    check('tickets_admit_no_more_than_they_may', sql`${ticket.entered} between 0 and ${ticket.admits}`),
    check(
      'tickets_refund_no_more_than_was_paid',
      sql`${ticket.refundedAmount} between 0 and ${ticket.totalAmount}`,
    ),
    check(
      'tickets_discount_no_more_than_the_price',
      sql`${ticket.discountAmount} between 0 and ${ticket.priceAmount}`,
    ),
    check(
      'tickets_redeem_no_more_than_was_bought',
      sql`not jsonb_path_exists(${ticket.supplements}, '$[*] ? (@.used > @.productQuantity)')`,
    ),
    check(
      'tickets_total',
      sql`${ticket.totalAmount} = ${ticket.priceAmount} - ${ticket.discountAmount} + ${ticket.supplementsAmount} + ${ticket.organizationFeeAmount} + ${ticket.warrantyAmount}`,
    ),
  ],
)

const { ended, soldOn: _soldOn, peakAttendance: _peakAttendance, ...columns } = getTableColumns(tickets)

/** Columns of a ticket, without those that serve its indexes or sums alone. */
export const ticketColumns = columns

/** Condition that a payment is that of a ticket. */
export const isPaymentOfTicket = isPaymentOf(tickets)

/** Condition that a ticket has not expired, so that its code is taken. */
export const isCodeTaken = isNotExpired(ended)

/** Document tokens of tickets that were given to another person. Their URLs are answered 410. */
export const retiredDocuments = pgTable(
  'retired_documents',
  {
    organizationId: text('organization_id').notNull(),
    token: text().notNull(),
    ticketId: text('ticket_id').notNull(),
    createdAt: createdAt(),
  },
  (document) => [
    primaryKey({ columns: [document.token, document.organizationId] }),
    organizationForeignKey('retired_documents_of_tickets', document, document.ticketId, tickets),
    index().on(document.ticketId),
  ],
)

export type Ticket = Omit<typeof tickets.$inferSelect, 'ended' | 'soldOn' | 'peakAttendance'>

/** Ticket with what the REST lookup shows of rate, event and price: null if not set, or not for the caller to see. */
export type LookupTicket = Ticket &
  Record<'rateName' | 'rateSlug' | 'eventAge' | 'priceIncludes' | 'priceAdditionalInfo', string | null>
