import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { statement } from '../batch.ts'
import type { Database } from '../database.ts'
import { present } from '../due.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { automaticReasons, type MoneyBack } from '../refund/queue-refund.ts'
import { refunds } from '../refund/table.ts'
import { tickets } from '../ticket/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { payments } from './table.ts'

const paymentByToken = (db: Database) =>
  statement(db, 'payment_by_token', (db) =>
    db
      .select({
        payment: payments,
        /** Whole seconds that the hold lasts yet, by the database's clock; 0 or less where its time is over. */
        secondsLeft: sql<number>`ceil(extract(epoch from ${payments.expiresAt} - ${present}))::integer`,
        /** Why money that came for it goes back by itself. */
        moneyBack: sql<MoneyBack | null>`(${db
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
      .where(eq(payments.pageToken, sql.placeholder('token'))),
  )

// Nothing of the person that a ticket is for: whoever has the address sees the page.
const linesByPayment = (db: Database) =>
  statement(db, 'ticket_lines_by_payment', (db) =>
    db
      .select({
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
      .where(eq(tickets.paymentId, sql.placeholder('paymentId')))
      .orderBy(asc(tickets.position)),
  )

const token = /^[0-9A-Za-z]{43}$/

/** The payment whose page has this token, and what it is for. The token entitles, so there is no caller. Null where
 *  there is none; what can't be a token costs no SQL. */
export async function findPayment(db: Database, given: string) {
  if (!token.test(given)) return null
  const [found] = await paymentByToken(db).execute({ token: given })
  return found ?? null
}

/** Each ticket of a payment as the buyer is to read it. Amounts in minor units. */
export const readLines = (db: Database, paymentId: string) => linesByPayment(db).execute({ paymentId })

export type FoundPayment = NonNullable<Awaited<ReturnType<typeof findPayment>>>
export type TicketLine = Awaited<ReturnType<typeof readLines>>[number]
