import { and, asc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { anyOf, isIdentifier, rowStatement, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { events } from '../event/table.ts'
import { Loader } from '../loader.ts'
import { loadMany, type Reader } from '../reader.ts'
import { type Rows, rowsOf } from '../rows.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { readByTurn } from '../turn.ts'
import { type LookupTicket, tickets } from './table.ts'

const ticketRows = rowsOf(getTableColumns(tickets))
const lookupRows: Rows<LookupTicket> = rowsOf({
  ...getTableColumns(tickets),
  rateName: ticketRates.name,
  rateSlug: ticketRates.slug,
  eventAge: events.age,
  priceIncludes: prices.includes,
  priceAdditionalInfo: prices.additionalInfo,
})

// A channel reads the tickets that it created, whatever became of its grant; an integration its organization's.
const own = or(
  eq(tickets.channelId, sql.placeholder('channelId')),
  anyOf(tickets.organizationId, 'ownOrganizationIds'),
)

// All doors look up together, whoever's they are: with all that is shown, because a second statement would cost what the
// first does.
const ticketByTurn = readByTurn<LookupTicket>(async (db, keys) => {
  const rows = await rowStatement(db, 'ticket_by_id', lookupRows, (select) =>
    select
      .from(tickets)
      .innerJoin(ticketRates, eq(ticketRates.id, tickets.ticketRateId))
      .innerJoin(events, eq(events.id, tickets.eventId))
      .innerJoin(prices, eq(prices.id, tickets.priceId))
      .where(anyOf(tickets.id, 'keys')),
  ).execute({ keys })
  return new Map(rows.map((ticket) => [ticket.id, ticket]))
})

/** A ticket, whoever may see it: to be shown as `toSeen` gives it. */
export const findTicket = async (db: Database, id: string): Promise<LookupTicket | null> =>
  isIdentifier(id) ? ticketByTurn(db, id) : null

/** A ticket as a caller sees it: null where it is not its own, without what its rate and event say where the organization
 *  no longer grants them. */
export function toSeen(ticket: LookupTicket | null, scope: Scope): LookupTicket | null {
  if (!ticket) return null
  const { channelId, organizationId } = ticket
  if (channelId !== scope.channelId && !scope.ownOrganizationIds.includes(organizationId)) return null
  if (scope.organizationIds.includes(organizationId)) return ticket
  return { ...ticket, rateName: null, rateSlug: null, eventAge: null }
}

export const ticketLoaders = (reader: Reader) => ({
  ticketById: new Loader((ids) =>
    Promise.all(ids.map(async (id) => toSeen(await findTicket(reader.db, id), reader.scope))),
  ),
  ticketsByPaymentId: loadMany(reader, {
    name: 'tickets_by_payment_id',
    rows: ticketRows,
    query: (select) =>
      select
        .from(tickets)
        .where(and(anyOf(tickets.paymentId, 'keys'), own))
        .orderBy(asc(tickets.position), asc(tickets.id)),
    key: (ticket) => ticket.paymentId,
  }),
})
