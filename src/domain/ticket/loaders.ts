import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import { type Batch, loadMany, type Readers } from '../../data/batch-loader.ts'
import { readByOrganization } from '../../data/by-organization.ts'
import { coalesceReads } from '../../data/coalesce.ts'
import { fewRowsOf, type Rows, rowsOf } from '../../data/json-rows.ts'
import { Loader } from '../../data/loader.ts'
import {
  anyOf,
  type Find,
  findTogether,
  inOrganization,
  isOwn,
  rowStatement,
  type Scope,
  statement,
} from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { isDistributed } from '../../database/distributed.ts'
import { createContextWith, keysByKeyId } from '../../request/prefetch.ts'
import { groupBy } from '../../shared/group-by.ts'
import { isIdentifier } from '../../shared/ids.ts'
import { events } from '../event/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { ticketColumns } from './columns-table.ts'
import { type LookupTicket, type Ticket, tickets } from './table.ts'

const lookupRows: Rows<LookupTicket> = fewRowsOf({
  ...ticketColumns,
  rateName: ticketRates.name,
  rateSlug: ticketRates.slug,
  eventAge: events.age,
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
const findTickets = ticketsWhere()
const findOwnTickets = ticketsWhere(inOrganization(tickets.organizationId))

// Coalesces the lookups of all callers, so it is unscoped.
const ticketCoalesced = coalesceReads<LookupTicket>(async (db, keys) => {
  const found = await rowStatement(db, 'ticket_by_id', findTickets).execute({ keys })
  return new Map(found.map((ticket) => [ticket.id, ticket]))
})

// The same for lookups of organizations, each of which finds its tickets on one server.
const ownTicketCoalesced = readByOrganization<LookupTicket>(async (db, organizationId, keys) => {
  const found = await rowStatement(db, 'ticket_of_organization', findOwnTickets).execute({
    organizationId,
    keys,
  })
  return new Map(found.map((ticket) => [ticket.id, ticket]))
})

// Tells where the rest of a ticket is: a narrow statement that every server of a distributed database is asked.
const organizationCoalesced = coalesceReads<string>(async (db, ids) => {
  const found = await statement(db, 'organization_of_ticket', (db) =>
    db
      .select({ id: tickets.id, organizationId: tickets.organizationId })
      .from(tickets)
      .where(sql`${tickets.id} = any(${sql.placeholder('ids')}::text[])`),
  ).execute({ ids })
  return new Map(found.map(({ id, organizationId }) => [id, organizationId]))
})

/** Finds a ticket without checking the caller's scope: pass the result through `toVisible`. */
export async function findTicket(
  db: Database,
  id: string,
  { ownOrganizationIds: [own] }: Pick<Scope, 'ownOrganizationIds'> = { ownOrganizationIds: [] },
): Promise<LookupTicket | null> {
  if (!isIdentifier(id)) return null
  if (!isDistributed(db)) return ticketCoalesced(db, id)
  const organizationId = own ?? (await organizationCoalesced(db, id))
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

const ofPayments = (condition: SQL): Find<Ticket> => ({
  rows: rowsOf(ticketColumns),
  query: (select, keys) =>
    select
      .from(tickets)
      .where(and(anyOf(tickets.paymentId, keys), condition))
      .orderBy(asc(tickets.position), asc(tickets.id)),
})

const byPaymentId: Batch<Ticket> = {
  name: 'tickets_by_payment_id',
  ...ofPayments(isOwn(tickets)),
  key: ({ paymentId }) => paymentId,
}

const anyByPaymentId = ofPayments(inOrganization(tickets.organizationId))
const ofPaymentCoalesced = readByOrganization<Ticket[]>(async (db, organizationId, keys) =>
  groupBy(
    await rowStatement(db, 'any_tickets_by_payment_id', anyByPaymentId).execute({ organizationId, keys }),
    ({ paymentId }) => paymentId,
  ),
)

/** Finds the tickets of a payment without permission checks. */
export const findTicketsOf = async (
  db: Database,
  { id, organizationId }: { id: string; organizationId: string },
): Promise<Ticket[]> => (await ofPaymentCoalesced(db, organizationId, id)) ?? []

export const ticketById = ({ own: { db, scope } }: Readers) =>
  new Loader((ids) => Promise.all(ids.map(async (id) => toVisible(await findTicket(db, id, scope), scope))))
export const ticketsByPaymentId = ({ own }: Readers) => loadMany(own, byPaymentId)

/** Creates the context of a request for one ticket, which it reads with the key. */
export const createLookupContext = createContextWith<LookupTicket>({
  async find(db, keyIds, ids) {
    const [keys, found] = await findTogether(db, 'key_and_ticket_by_id', [keysByKeyId, findTickets], {
      keyIds,
      keys: ids,
    })
    return [keys, new Map(found.map((ticket) => [ticket.id, ticket]))]
  },
  prime: ({ loaders }, id, ticket) => loaders.get(ticketById).prime(id, toVisible(ticket, loaders.own.scope)),
})
