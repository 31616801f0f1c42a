import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { coalesceReads } from '../../../data/coalesce.ts'
import { nowMs } from '../../../data/leased-jobs.ts'
import { anyOf, byKey, statement } from '../../../data/prepared.ts'
import type { Database } from '../../../database/database.ts'
import { events } from '../../event/table.ts'
import { locations } from '../../location/table.ts'
import { payments } from '../../payment/table.ts'
import { refunds } from '../../refund/table.ts'
import { tickets } from '../../ticket/table.ts'
import { prices, ticketRates } from '../../ticket-rate/table.ts'
import { automaticReasons, type AutomaticReason } from '../refund/queue-refund.ts'

// Buyers come in a rush: those who look in the same turn are read together.
const paymentsByTokens = (db: Database) =>
  statement(db, 'payments_by_tokens', (db) =>
    db
      .select({
        payment: payments,
        /** Whole seconds that the hold lasts yet, by the database's clock; 0 or less where its time is over. */
        secondsLeft: sql<number>`ceil(extract(epoch from ${payments.expiresAt} - ${nowMs}))::integer`,
        /** Why money that came for it goes back by itself. */
        moneyBack: sql<AutomaticReason | null>`(${db
          .select({ reason: refunds.reason })
          .from(refunds)
          .where(and(eq(refunds.paymentId, payments.id), inArray(refunds.reason, automaticReasons)))
          .orderBy(asc(refunds.createdAt))
          .limit(1)})`,
        rateName: ticketRates.name,
        event: { name: events.name, startDate: events.startDate, displayDate: events.displayDate },
        location: {
          name: locations.name,
          address: locations.address,
          city: locations.city,
          timezone: locations.timezone,
        },
      })
      .from(payments)
      .innerJoin(ticketRates, eq(ticketRates.id, payments.ticketRateId))
      .innerJoin(events, eq(events.id, ticketRates.eventId))
      .leftJoin(locations, eq(locations.id, events.locationId))
      .where(anyOf(payments.pageToken, 'tokens')),
  )

// Nothing of the person that a ticket is for: whoever has the address sees the page.
const linesByPayments = (db: Database) =>
  statement(db, 'ticket_lines_by_payments', (db) =>
    db
      .select({
        paymentId: tickets.paymentId,
        priceName: prices.name,
        priceAmount: tickets.priceAmount,
        supplements: tickets.supplements,
        feeAmount: tickets.organizationFeeAmount,
        warrantyAmount: tickets.warrantyAmount,
        warrantyHours: tickets.warrantyHours,
        totalAmount: tickets.totalAmount,
      })
      .from(tickets)
      .innerJoin(prices, eq(prices.id, tickets.priceId))
      .where(anyOf(tickets.paymentId, 'paymentIds'))
      .orderBy(asc(tickets.paymentId), asc(tickets.position)),
  )

export type FoundPayment = Awaited<ReturnType<ReturnType<typeof paymentsByTokens>['execute']>>[number]
export type TicketLine = Awaited<ReturnType<ReturnType<typeof linesByPayments>['execute']>>[number]

const paymentByToken = coalesceReads<FoundPayment>(async (db, tokens) => {
  const found = await paymentsByTokens(db).execute({ tokens })
  return new Map(found.map((one) => [one.payment.pageToken, one]))
})

const linesByPayment = coalesceReads<TicketLine[]>(async (db, paymentIds) =>
  byKey(await linesByPayments(db).execute({ paymentIds }), ({ paymentId }) => paymentId),
)

const token = /^[0-9A-Za-z]{43}$/

/** Whether there may be a payment page of that token at all. */
export const isPageToken = (given: string) => token.test(given)

/** The payment whose page has this token, and what it is for. The token entitles, so there is no caller. Null where
 *  there is none; what can't be a token costs no SQL. */
export const findPayment = async (db: Database, given: string): Promise<FoundPayment | null> =>
  isPageToken(given) ? paymentByToken(db, given) : null

/** Each ticket of a payment as the buyer is to read it. Amounts in minor units. */
export const readLines = async (db: Database, paymentId: string): Promise<TicketLine[]> =>
  (await linesByPayment(db, paymentId)) ?? []
