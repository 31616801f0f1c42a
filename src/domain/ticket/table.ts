import { sql } from 'drizzle-orm'
import {
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { createdAt, minorUnits, timestampMs } from '../../database/columns.ts'
import { payments } from '../payment/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'

export const ticketStatus = pgEnum('ticket_status', ['held', 'active', 'cancelled', 'expired'])

export type Answer = { questionId: string; answer: string }
/** A supplement as it was sold. Amounts in minor units. */
export type SoldSupplement = {
  supplementId: string
  label: string
  amount: number
  hasFakePrice: boolean
  fakeAmount: number | null
}
/** A refund as the checkout view tells it. Amount in minor units, `at` as ISO 8601. */
export type RefundMade = { channelId: string; amount: number; at: string }

const amount = (name: string) => minorUnits(name).notNull()

export const tickets = pgTable(
  'tickets',
  {
    id: text().primaryKey(),
    paymentId: text('payment_id').notNull(),
    /** The ticket's place in its checkout. */
    position: integer().notNull(),
    organizationId: text('organization_id').notNull(),
    channelId: text('channel_id').notNull(),
    eventId: text('event_id').notNull(),
    ticketRateId: text('ticket_rate_id').notNull(),
    priceId: text('price_id').notNull(),
    status: ticketStatus().notNull().default('held'),
    qrCode: text('qr_code').notNull(),
    currency: text().notNull(),
    priceAmount: amount('price_amount'),
    supplementsAmount: amount('supplements_amount'),
    organizationFeeAmount: amount('organization_fee_amount'),
    platformFeeAmount: amount('platform_fee_amount'),
    warrantyAmount: amount('warranty_amount'),
    totalAmount: amount('total_amount'),
    refundedAmount: amount('refunded_amount').default(0),
    refundedAt: timestampMs('refunded_at'),
    refunds: jsonb().$type<RefundMade[]>().notNull().default([]),
    /** Hours before the event until which a ticket with a warranty is refunded; 0 without one. */
    warrantyHours: integer('warranty_hours').notNull(),
    fullName: text('full_name').notNull(),
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
    metadata: jsonb().$type<Record<string, unknown>>(),
    /** People that the ticket admits. */
    admits: integer().notNull().default(1),
    /** People already in. */
    entered: integer().notNull().default(0),
    lastEntryAt: timestampMs('last_entry_at'),
    /** When somebody was first let in with it. */
    firstEntryAt: timestampMs('first_entry_at'),
    /** The unguessable part of the address of its document; null until it is paid. */
    documentToken: text('document_token'),
    cancelledAt: timestampMs('cancelled_at'),
    invoiceReference: text('invoice_reference'),
    correctiveInvoiceReferences: text('corrective_invoice_references').array().notNull().default([]),
    createdAt: createdAt(),
    activatedAt: timestampMs('activated_at'),
  },
  (ticket) => [
    // Each says with one look what single ones would say with two or more: a ticket is of its payment's organization,
    // channel and rate, of that rate's event, and sold at a price of that rate.
    foreignKey({
      name: 'tickets_of_their_payment',
      columns: [ticket.paymentId, ticket.organizationId, ticket.channelId, ticket.ticketRateId],
      foreignColumns: [payments.id, payments.organizationId, payments.channelId, payments.ticketRateId],
    }),
    foreignKey({
      name: 'tickets_of_the_event_of_their_rate',
      columns: [ticket.ticketRateId, ticket.eventId],
      foreignColumns: [ticketRates.id, ticketRates.eventId],
    }),
    foreignKey({
      name: 'tickets_at_a_price_of_their_rate',
      columns: [ticket.priceId, ticket.ticketRateId],
      foreignColumns: [prices.id, prices.ticketRateId],
    }),
    index().on(ticket.paymentId, ticket.position),
    index().on(ticket.ticketRateId),
    // An expired checkout gives its codes back, so that the channel can try again with them.
    uniqueIndex('tickets_qr_code_in_event')
      .on(ticket.qrCode, ticket.eventId)
      .where(sql`${ticket.status} <> 'expired'`),
    uniqueIndex('tickets_document_token')
      .on(ticket.documentToken)
      .where(sql`${ticket.documentToken} is not null`),
    check('tickets_admit_no_more_than_they_may', sql`${ticket.entered} between 0 and ${ticket.admits}`),
    check(
      'tickets_refund_no_more_than_was_paid',
      sql`${ticket.refundedAmount} between 0 and ${ticket.totalAmount}`,
    ),
    check(
      'tickets_total',
      sql`${ticket.totalAmount} = ${ticket.priceAmount} + ${ticket.supplementsAmount} + ${ticket.organizationFeeAmount} + ${ticket.warrantyAmount}`,
    ),
  ],
)

export type Ticket = typeof tickets.$inferSelect

/** A ticket with what the lookup view says of its rate, its event and its price: null where the caller may not see
 *  them, or where they say nothing. */
export type LookupTicket = Ticket & {
  rateName: string | null
  rateSlug: string | null
  eventAge: string | null
  priceIncludes: string | null
  priceAdditionalInfo: string | null
}
