import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import { oneLine } from '../../engine/base/printable.ts'
import { fewRowsOf } from '../../engine/data/json-rows.ts'
import { inOrganization, query } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import type { AddressToken } from '../contract/ids.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { formatAmount } from '../language/format.ts'
import { chooseLanguage, type Language } from '../language/languages.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { payments } from '../payment/table.ts'
import { isPaymentOfTicket, retiredDocuments, ticketColumns, tickets } from '../ticket/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import type { Delivery } from './table.ts'

/** True if the ticket was given to another person: its documents are then not the buyer's. */
export const isTransferred = sql<boolean>`exists (select from ${retiredDocuments}
  where ${inOrganization(retiredDocuments.organizationId)} and ${retiredDocuments.ticketId} = ${tickets.id})`

/** Columns that documents, mails and pages show of an event, its seller and its venue, which may be missing. */
export const shownColumns = {
  rateName: ticketRates.name,
  organizationName: organizations.name,
  organizationLanguage: organizations.language,
  eventName: events.name,
  startDate: events.startDate,
  endDate: events.endDate,
  displayDate: events.displayDate,
  locationName: sql<string | null>`${locations.name}`,
  address: locations.address,
  city: locations.city,
  timezone: sql<string | null>`${locations.timezone}`,
}

const rows = fewRowsOf({
  ...ticketColumns,
  isTransferred,
  ...shownColumns,
  priceName: prices.name,
  // Null if the ticket has no discount.
  discountName: sql<string | null>`${discounts.name}`,
  paymentLanguage: payments.language,
  slug: events.slug,
  sequence: events.calendarSequence,
  latitude: locations.latitude,
  longitude: locations.longitude,
})

/** A ticket with everything that is printed on it. */
export type TicketDocument = ReturnType<typeof rows.read>[number]

const documents = (name: string, condition: SQL | undefined) =>
  query(name, {
    rows,
    query: (select) =>
      select
        .from(tickets)
        .innerJoin(payments, isPaymentOfTicket)
        .innerJoin(ticketRates, eq(ticketRates.id, tickets.ticketRateId))
        .innerJoin(prices, eq(prices.id, tickets.priceId))
        .innerJoin(events, eq(events.id, tickets.eventId))
        .innerJoin(organizations, eq(organizations.id, tickets.organizationId))
        .leftJoin(discounts, eq(discounts.id, tickets.discountId))
        .leftJoin(locations, eq(locations.id, events.locationId))
        .where(condition)
        .orderBy(asc(tickets.position)),
  })

// Texts are on one line and without hidden characters, which names may have.
const toDocument = (row: TicketDocument) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : value]),
  ) as TicketDocument

/** Language of the attendee of a ticket; that of the organization if the ticket has another than ours. */
export const languageOfDocument = ({ language, organizationLanguage }: TicketDocument): Language =>
  chooseLanguage(language, organizationLanguage)

/** Amount that a ticket was sold at, fees and supplements included, in its language and currency. */
export const priceOf = (language: Language, { totalAmount, currency }: TicketDocument): string =>
  formatAmount(language, totalAmount, currency)

const parameter = sql.placeholder

// One statement for both kinds of token, because anybody can guess them.
const ofToken = sql`(
  select tickets.id from ${tickets} where ${inOrganization(tickets.organizationId)} and ${tickets.id} = ${parameter('id')}
    and ${tickets.documentToken} = ${parameter('token')}
  union all select ticket_id from ${retiredDocuments} where ${inOrganization(retiredDocuments.organizationId)}
    and ${retiredDocuments.token} = ${parameter('token')}
  limit 1)`

const documentByToken = documents(
  'document_by_token',
  and(inOrganization(tickets.organizationId), eq(tickets.id, ofToken)),
)

/** Finds a ticket by the token of its document, whatever its status, or by that of a document that it had
 *  before it was given to another person: its `documentToken` is another then. The token is the
 *  authorization, so there is no caller. Null if there is none. */
export async function findDocument(db: Database, read: AddressToken): Promise<TicketDocument | null> {
  const [row] = await documentByToken(db, read)
  return row ? toDocument(row) : null
}

/** Finds the tickets of a payment of an organization, in their order. */
export const documentsOfPayment = documents(
  'documents_of_payment',
  and(inOrganization(tickets.organizationId), eq(tickets.paymentId, parameter('paymentId'))),
)

/** Finds the tickets of a delivery: those of its payment, or the only one that it names, that are active and still
 *  bear its recipient. A notice that names a ticket concerns it whatever became of it; a checkout by a publishable
 *  key that cost nothing is sent to its first attendee, except for tickets that were given to others. */
export async function documentsToSend(db: Database, delivery: Delivery): Promise<TicketDocument[]> {
  const { organizationId, notice, occasion, medium, paymentId, recipient, ticketId } = delivery
  const found = await documentsOfPayment(db, { organizationId, paymentId })
  const isNamed = ({ id }: TicketDocument) => id === ticketId
  const isToSend = (row: TicketDocument) => {
    if (row.status !== 'active') return false
    if (occasion === 'public') return !row.isTransferred && found[0]?.email === recipient
    return (ticketId === null || isNamed(row)) && recipient === (medium === 'email' ? row.email : row.phone)
  }
  return found.filter(notice && ticketId !== null ? isNamed : isToSend).map(toDocument)
}
