import { and, asc, eq, type GetColumnData, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { inOrganization, statement } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { isDistributed } from '../../database/distributed.ts'
import { chooseLanguage, type Language } from '../../language/languages.ts'
import type { AddressToken } from '../../shared/ids.ts'
import { oneLine } from '../../shared/printable.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { payments } from '../payment/table.ts'
import { retiredDocuments, tickets } from '../ticket/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import type { Delivery } from './table.ts'

// On one line and without hidden characters, which names may have. Null stays null.
const shown = <Column extends PgColumn>(column: Column) =>
  sql`${column}`.mapWith(oneLine) as SQL<GetColumnData<Column>>

const sheets = (db: Database) =>
  db
    .select({
      ticket: {
        id: tickets.id,
        paymentId: tickets.paymentId,
        position: tickets.position,
        status: tickets.status,
        mode: tickets.mode,
        qrCode: tickets.qrCode,
        fullName: shown(tickets.fullName),
        supplements: tickets.supplements,
        discountAmount: tickets.discountAmount,
        totalAmount: tickets.totalAmount,
        currency: tickets.currency,
        language: tickets.language,
        documentToken: tickets.documentToken,
      },
      rateName: shown(ticketRates.name),
      priceName: shown(prices.name),
      discountName: shown(discounts.name),
      organizationName: shown(organizations.name),
      organizationLanguage: organizations.language,
      paymentLanguage: payments.language,
      event: {
        id: events.id,
        name: shown(events.name),
        slug: events.slug,
        startDate: events.startDate,
        endDate: events.endDate,
        displayDate: events.displayDate,
        sequence: events.calendarSequence,
      },
      location: {
        name: shown(locations.name),
        address: shown(locations.address),
        city: shown(locations.city),
        timezone: locations.timezone,
        latitude: locations.latitude,
        longitude: locations.longitude,
      },
    })
    .from(tickets)
    .innerJoin(
      payments,
      and(eq(payments.organizationId, tickets.organizationId), eq(payments.id, tickets.paymentId)),
    )
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

// One statement for both kinds of token, because anybody can guess them.
const ofToken = (isOf: (column: PgColumn) => SQL) => sql`(
  select tickets.id from ${tickets} where ${isOf(tickets.organizationId)} and ${tickets.id} = ${sql.placeholder('id')}
    and ${tickets.documentToken} = ${sql.placeholder('token')}
  union all select ticket_id from ${retiredDocuments} where ${isOf(retiredDocuments.organizationId)}
    and ${retiredDocuments.token} = ${sql.placeholder('token')}
  limit 1)`

const sheetsByToken = (db: Database) =>
  statement(db, 'sheet_by_document', (db) =>
    sheets(db).where(
      eq(
        tickets.id,
        ofToken(() => sql`true`),
      ),
    ),
  )
const sheetsByOwnToken = (db: Database) =>
  statement(db, 'sheet_of_organization_by_document', (db) =>
    sheets(db).where(and(inOrganization(tickets.organizationId), eq(tickets.id, ofToken(inOrganization)))),
  )

async function organizationOfDocument(
  db: Database,
  { token, id }: AddressToken,
): Promise<string | undefined> {
  const { organizationId, documentToken } = tickets
  const [living] = await db
    .select({ organizationId })
    .from(tickets)
    .where(and(eq(documentToken, token), eq(tickets.id, id)))
  if (living) return living.organizationId
  const retired = db.select().from(retiredDocuments).where(eq(retiredDocuments.token, token))
  return (await retired)[0]?.organizationId
}

/** Finds a ticket by the token of its document, whatever its status, or by that of a document that it had
 *  before it was given to another person: its `documentToken` is another then. The token is the
 *  authorization, so there is no caller. Null if there is none. */
export async function findSheet(db: Database, read: AddressToken): Promise<Sheet | null> {
  const { token, id } = read
  if (!isDistributed(db)) return (await sheetsByToken(db).execute({ token, id }))[0] ?? null
  const organizationId = read.organizationId ?? (await organizationOfDocument(db, read))
  if (organizationId === undefined) return null
  return (await sheetsByOwnToken(db).execute({ organizationId, token, id }))[0] ?? null
}

const isKept = sql`not exists (select from ${retiredDocuments}
  where ${inOrganization(retiredDocuments.organizationId)} and ${retiredDocuments.ticketId} = ${tickets.id})`
const isOfFirst = sql`exists (select from ${tickets} as first where first.organization_id = ${sql.placeholder('organizationId')}
  and first.payment_id = ${sql.placeholder('paymentId')} and first.position = 0
  and first.email = ${sql.placeholder('recipient')})`

const recipientColumn = { email: tickets.email, whatsapp: tickets.phone }

/** Finds the tickets of a delivery: those of its payment, or the only one that it names, that are active
 *  and still bear its recipient. A notice that names a ticket concerns it whatever became of it; a checkout by a
 *  publishable key that cost nothing is sent to its first attendee, but for what was given to others. */
export function sheetsToSend(
  db: Database,
  { organizationId, kind, notice, occasion, medium, paymentId, recipient, ticketId }: Delivery,
): Promise<Sheet[]> {
  const find = (name: string, ...conditions: SQL[]) =>
    statement(db, name, (db) =>
      sheets(db)
        .where(
          and(
            inOrganization(tickets.organizationId),
            eq(tickets.paymentId, sql.placeholder('paymentId')),
            ...conditions,
          ),
        )
        .orderBy(asc(tickets.position)),
    )
  const isNamed = eq(tickets.id, sql.placeholder('ticketId'))
  if (kind === 'transfer_notice' || (notice && ticketId !== null))
    return find('sheets_of_a_notice', isNamed).execute({ organizationId, paymentId, ticketId })
  const isRecipients = eq(recipientColumn[medium], sql.placeholder('recipient'))
  const isActive = eq(tickets.status, 'active')
  if (occasion === 'public')
    return find('sheets_of_a_public_checkout', isActive, isKept, isOfFirst).execute({
      ...{ organizationId, paymentId, recipient },
    })
  return ticketId === null
    ? find(`sheets_by_${medium}`, isRecipients, isActive).execute({ organizationId, paymentId, recipient })
    : find(`sheet_by_${medium}`, isRecipients, isActive, isNamed).execute({
        organizationId,
        paymentId,
        recipient,
        ticketId,
      })
}
