import { and, asc, eq, type SQL } from 'drizzle-orm'
import { knownOrganization, loadMany, type Readers } from '../../data/batch-loader.ts'
import { readByOrganization } from '../../data/by-organization.ts'
import { coalesceReads } from '../../data/coalesce.ts'
import { fewRowsOf, type Rows, rowsOf } from '../../data/json-rows.ts'
import { Loader } from '../../data/loader.ts'
import { anyOf, type Find, inOrganization, query, type Scope, together } from '../../data/query.ts'
import { organizationsBy, soldBatch } from '../../data/sold-batch.ts'
import type { Database } from '../../database/database.ts'
import { isDistributed } from '../../database/distributed.ts'
import { createContextWith, keysByKeyId } from '../../request/prefetch.ts'
import { groupBy } from '../../shared/group-by.ts'
import { isIdentifier } from '../../shared/ids.ts'
import { ageText, events } from '../event/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { type LookupTicket, type Ticket, ticketColumns, tickets } from './table.ts'

const lookupRows: Rows<LookupTicket> = fewRowsOf({
  ...ticketColumns,
  rateName: ticketRates.name,
  rateSlug: ticketRates.slug,
  eventAge: ageText,
  priceIncludes: prices.includes,
  priceAdditionalInfo: prices.additionalInfo,
})

/** Query for tickets by id with everything that the REST lookup shows. One join, because a second statement
 *  would double the cost. */
const ticketsWhere = (condition?: SQL): Find<LookupTicket> => ({
  rows: lookupRows,
  query: (select, keys) =>
    select
      .from(tickets)
      .innerJoin(ticketRates, eq(ticketRates.id, tickets.ticketRateId))
      .innerJoin(events, eq(events.id, tickets.eventId))
      .innerJoin(prices, eq(prices.id, tickets.priceId))
      .where(and(condition, anyOf(tickets.id, keys))),
})
const findTickets = query('ticket_by_id', ticketsWhere())
const findOwnTickets = query('ticket_of_organization', ticketsWhere(inOrganization(tickets.organizationId)))

// Coalesces the lookups of all callers, so it is unscoped.
const ticketCoalesced = coalesceReads<LookupTicket>(async (db, keys) => {
  const found = await findTickets(db, { keys })
  return new Map(found.map((ticket) => [ticket.id, ticket]))
})

// The same for lookups of organizations, each of which finds its tickets on one server.
const ownTicketCoalesced = readByOrganization<LookupTicket>(async (db, organizationId, keys) => {
  const found = await findOwnTickets(db, { organizationId, keys })
  return new Map(found.map((ticket) => [ticket.id, ticket]))
})

const organizationOf = organizationsBy('organization_of_ticket', tickets.id, tickets.organizationId)

/** Finds a ticket without checking the caller's scope: pass the result through `toVisible`. A distributed
 *  database asks every server for its organization unless that is known. */
export async function findTicket(db: Database, id: string, known?: string): Promise<LookupTicket | null> {
  if (!isIdentifier(id)) return null
  if (!isDistributed(db)) return ticketCoalesced(db, id)
  const organizationId = known ?? (await organizationOf(db, id))
  return organizationId === null ? null : ownTicketCoalesced(db, organizationId, id)
}

/** Applies a caller's scope to a ticket: null if it is not the caller's, without facts of its rate and event
 *  if the organization has revoked the grant. */
export function toVisible<Found extends LookupTicket>(ticket: Found | null, scope: Scope): Found | null {
  if (!ticket) return null
  const { channelId, organizationId, mode } = ticket
  if (mode !== scope.mode) return null
  if (channelId !== scope.channelId && !scope.ownOrganizationIds.includes(organizationId)) return null
  if (scope.organizationIds.includes(organizationId)) return ticket
  return { ...ticket, rateName: null, rateSlug: null, eventAge: null }
}

const rows = rowsOf(ticketColumns)
const order = [asc(tickets.position), asc(tickets.id)]

const byPaymentId = soldBatch<Ticket>({
  name: 'tickets_by_payment_id',
  ...{ rows, table: tickets, column: tickets.paymentId, order },
  key: ({ paymentId }) => paymentId,
})

const anyByPaymentId = query('any_tickets_by_payment_id', {
  rows,
  query: (select, keys) =>
    select
      .from(tickets)
      .where(and(anyOf(tickets.paymentId, keys), inOrganization(tickets.organizationId)))
      .orderBy(...order),
})
const ofPaymentCoalesced = readByOrganization<Ticket[]>(async (db, organizationId, keys) =>
  groupBy(await anyByPaymentId(db, { organizationId, keys }), ({ paymentId }) => paymentId),
)

/** Finds the tickets of a payment without permission checks. */
export const findTicketsOf = async (
  db: Database,
  { id, organizationId }: { id: string; organizationId: string },
): Promise<Ticket[]> => (await ofPaymentCoalesced(db, organizationId, id)) ?? []

export const ticketById = ({ own }: Readers) =>
  new Loader((ids) =>
    Promise.all(
      ids.map(async (id) => toVisible(await findTicket(own.db, id, knownOrganization(own, id)), own.scope)),
    ),
  )
export const ticketsByPaymentId = ({ own }: Readers) => loadMany(own, byPaymentId)

const findKeysAndTickets = together('key_and_ticket_by_id', [keysByKeyId, ticketsWhere()])

/** Creates the context of a request for one ticket, which it reads with the key. */
export const createLookupContext = createContextWith<LookupTicket>({
  async find(db, keyIds, ids) {
    const [keys, found] = await findKeysAndTickets(db, { keyIds, keys: ids })
    return [keys, new Map(found.map((ticket) => [ticket.id, ticket]))]
  },
  prime: ({ loaders }, id, ticket) => loaders.get(ticketById).prime(id, toVisible(ticket, loaders.own.scope)),
})
