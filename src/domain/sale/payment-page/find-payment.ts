import { and, asc, eq, getTableColumns, inArray, isNull, sql } from 'drizzle-orm'
import { groupBy } from '../../../engine/base/group-by.ts'
import { readByIds, readByOrganization } from '../../../engine/data/by-organization.ts'
import { fewRowsOf } from '../../../engine/data/json-rows.ts'
import { anyOf, inOrganization, query, unindexed } from '../../../engine/data/query.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Database } from '../../../engine/database/database.ts'
import { shownColumns } from '../../delivery/find-documents.ts'
import { discounts } from '../../discount/table.ts'
import { events } from '../../event/table.ts'
import { locations } from '../../location/table.ts'
import { organizations } from '../../organization/table.ts'
import type { PaymentName } from '../../payment/lock-payment.ts'
import { readPageToken } from '../../payment/payment-url.ts'
import { testEmails } from '../../payment/sandbox.ts'
import { payments } from '../../payment/table.ts'
import { refunds } from '../../refund/table.ts'
import { isPaymentOfTicket, tickets } from '../../ticket/table.ts'
import { prices, ticketRates } from '../../ticket-rate/table.ts'
import type { AutomaticReason } from '../refund/open-refunds.ts'

const pageRows = fewRowsOf({
  ...getTableColumns(payments),
  ticketRateId: tickets.ticketRateId,
  /** Seconds left of the hold, by the database's clock; 0 or less if it is overdue. */
  secondsLeft: sql<number>`ceil(extract(epoch from ${payments.expiresAt} - ${nowMs}))::integer`,
  /** Reason for the first automatic refund of the payment, which is of no ticket. */
  refundReason: sql<AutomaticReason | null>`(select ${refunds.reason} from ${refunds}
      where ${and(inOrganization(refunds.organizationId), eq(refunds.paymentId, payments.id), isNull(refunds.ticketId))}
      order by ${refunds.createdAt} limit 1)`,
  /** Address among the tickets that the sandbox heeds. */
  testEmail: sql<string | null>`(select ${tickets.email} from ${tickets}
      where ${and(inOrganization(tickets.organizationId), eq(tickets.paymentId, payments.id), inArray(tickets.email, testEmails))}
      order by ${tickets.position} limit 1)`,
  ...shownColumns,
})

// Buyers come in a rush: reads in the same turn of the event loop share one statement.
const pageOfPayment = readByIds('pages_of_payments', {
  rows: pageRows,
  query: (select, keys) =>
    select
      .from(payments)
      .innerJoin(tickets, and(isPaymentOfTicket, eq(unindexed(tickets.position), '0')))
      .innerJoin(ticketRates, eq(ticketRates.id, tickets.ticketRateId))
      .innerJoin(events, eq(events.id, ticketRates.eventId))
      .innerJoin(organizations, eq(organizations.id, payments.organizationId))
      .leftJoin(locations, eq(locations.id, events.locationId))
      .where(and(inOrganization(payments.organizationId), anyOf(payments.id, keys))),
})

// No personal data: anybody with the page's address can see it.
const { paymentId, priceAmount, discountAmount, supplements, warrantyAmount, warrantyHours } = tickets
const lineRows = fewRowsOf({
  ...{ paymentId, priceAmount, discountAmount, supplements, warrantyAmount, warrantyHours },
  priceName: prices.name,
  discountName: sql<string | null>`${discounts.name}`,
  feeAmount: tickets.organizationFeeAmount,
})
const linesByPayments = query('ticket_lines_by_payments', {
  rows: lineRows,
  query: (select, keys) =>
    select
      .from(tickets)
      .innerJoin(prices, eq(prices.id, tickets.priceId))
      .leftJoin(discounts, eq(discounts.id, tickets.discountId))
      .where(and(inOrganization(tickets.organizationId), anyOf(tickets.paymentId, keys)))
      .orderBy(asc(tickets.paymentId), asc(tickets.position)),
})

/** A payment with all that its page shows beside its tickets. */
export type FoundPayment = ReturnType<typeof pageRows.read>[number]
export type TicketLine = ReturnType<typeof lineRows.read>[number]

const linesByPayment = readByOrganization<TicketLine[]>(async (db, values) =>
  groupBy(await linesByPayments(db, values), ({ paymentId }) => paymentId),
)

/** Finds the payment whose page has this token, with its event and rate. The token is the permission: there
 *  is no caller. Null if there is none. A malformed token costs no SQL. */
export async function findPaymentOfPage(db: Database, token: string): Promise<FoundPayment | null> {
  const read = readPageToken(token)
  const found = read && (await pageOfPayment(db, read.organizationId, read.id))
  return found?.pageToken === token ? found : null
}

/** Reads the tickets of a payment as its page lists them. Amounts in minor units. */
export const readLines = async (db: Database, { id, organizationId }: PaymentName): Promise<TicketLine[]> =>
  (await linesByPayment(db, organizationId, id)) ?? []
