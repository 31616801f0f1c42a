import { and, asc, eq, sql } from 'drizzle-orm'
import { statement } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { chooseLanguage, type Language } from '../../language/languages.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { tickets } from '../ticket/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import type { Delivery } from './table.ts'

const sheets = (db: Database) =>
  db
    .select({
      ticket: {
        id: tickets.id,
        paymentId: tickets.paymentId,
        position: tickets.position,
        status: tickets.status,
        qrCode: tickets.qrCode,
        fullName: tickets.fullName,
        supplements: tickets.supplements,
        discountAmount: tickets.discountAmount,
        currency: tickets.currency,
        language: tickets.language,
        documentToken: tickets.documentToken,
      },
      rateName: ticketRates.name,
      priceName: prices.name,
      discountName: discounts.name,
      organizationName: organizations.name,
      organizationLanguage: organizations.language,
      event: {
        id: events.id,
        name: events.name,
        slug: events.slug,
        startDate: events.startDate,
        endDate: events.endDate,
        displayDate: events.displayDate,
      },
      location: {
        name: locations.name,
        address: locations.address,
        city: locations.city,
        timezone: locations.timezone,
        latitude: locations.latitude,
        longitude: locations.longitude,
      },
    })
    .from(tickets)
    .innerJoin(ticketRates, eq(ticketRates.id, tickets.ticketRateId))
    .innerJoin(prices, eq(prices.id, tickets.priceId))
    .innerJoin(events, eq(events.id, tickets.eventId))
    .innerJoin(organizations, eq(organizations.id, tickets.organizationId))
    .leftJoin(discounts, eq(discounts.id, tickets.discountId))
    .leftJoin(locations, eq(locations.id, events.locationId))

/** A ticket with everything that is printed on it. */
export type Sheet = Awaited<ReturnType<typeof sheets>>[number]

/** Language of the holder of a ticket; that of the organization if the ticket has another than ours. */
export const languageOfSheet = ({ ticket, organizationLanguage }: Sheet): Language =>
  chooseLanguage(ticket.language, organizationLanguage)

/** Reports whether a text has the form of a document token. */
export const isDocumentToken = (text: string) => /^[0-9a-f]{64}$/.test(text)

/** Finds a ticket by its document token, whatever its status. The token is the authorization, so there is no
 *  caller. Null if there is none; a malformed token costs no SQL. */
export async function findSheet(db: Database, documentToken: string): Promise<Sheet | null> {
  if (!isDocumentToken(documentToken)) return null
  const byToken = statement(db, 'sheet_by_document_token', (db) =>
    sheets(db).where(eq(tickets.documentToken, sql.placeholder('token'))),
  )
  const [found] = await byToken.execute({ token: documentToken })
  return found ?? null
}

const recipientColumn = { email: tickets.email, whatsapp: tickets.phone }

/** Finds the active tickets of a delivery, without those cancelled since it was queued. */
export function sheetsToSend(db: Database, { medium, paymentId, recipient }: Delivery): Promise<Sheet[]> {
  const byRecipient = statement(db, `sheets_by_${medium}`, (db) =>
    sheets(db)
      .where(
        and(
          eq(tickets.paymentId, sql.placeholder('paymentId')),
          eq(recipientColumn[medium], sql.placeholder('recipient')),
          eq(tickets.status, 'active'),
        ),
      )
      .orderBy(asc(tickets.position)),
  )
  return byRecipient.execute({ paymentId, recipient })
}
