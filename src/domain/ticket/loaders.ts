import { and, asc, eq } from 'drizzle-orm'
import type { Reach } from '../../engine/base/caller.ts'
import { byId } from '../../engine/base/group-by.ts'
import { isIdentifier } from '../../engine/base/ids.ts'
import { loadMany, type Readers } from '../../engine/data/batch-loader.ts'
import { readByKeys } from '../../engine/data/by-organization.ts'
import { fewRowsOf, rowsOf } from '../../engine/data/json-rows.ts'
import { Loader } from '../../engine/data/loader.ts'
import {
  anyOf,
  type Find,
  inOrganization,
  inOrganizationIfNamed,
  query,
  queryTogether,
} from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { createContextWith, keysByKeyId } from '../caller/prefetch.ts'
import { organizationOfSold, soldBatch } from '../caller/sold.ts'
import { ageText, events } from '../event/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { type LookupTicket, type Ticket, ticketColumns, tickets } from './table.ts'

/** Columns of a ticket with what the REST lookup, and some fields of GraphQL, show of rate, event and price. */
export const lookupColumns = {
  ...ticketColumns,
  rateName: ticketRates.name,
  rateSlug: ticketRates.slug,
  eventAge: ageText,
  priceIncludes: prices.includes,
  priceAdditionalInfo: prices.additionalInfo,
}

/** Query for tickets by id with everything that the REST lookup shows. One join, because a second statement
 *  would double the cost. */
const ticketsById: Find<LookupTicket> = {
  rows: fewRowsOf(lookupColumns),
  query: (select, keys) =>
    select
      .from(tickets)
      .innerJoin(ticketRates, eq(ticketRates.id, tickets.ticketRateId))
      .innerJoin(events, eq(events.id, tickets.eventId))
      .innerJoin(prices, eq(prices.id, tickets.priceId))
      .where(and(inOrganizationIfNamed(tickets.organizationId), anyOf(tickets.id, keys))),
}
const findTickets = query('ticket_by_id', ticketsById)

// Coalesces the lookups of all callers, so it is unscoped.
const readTicket = readByKeys<LookupTicket>(
  async (db, values) => byId(await findTickets(db, values)),
  organizationOfSold,
)

/** Finds a ticket without checking the caller's reach: pass the result through `toVisible`. */
export const findTicket = async (db: Database, id: string): Promise<LookupTicket | null> =>
  isIdentifier(id) ? readTicket(db, id) : null

/** Applies a caller's reach to a ticket: null if it is not the caller's, without facts of its rate and event
 *  if the organization has revoked the grant. */
export function toVisible<Found extends LookupTicket>(ticket: Found | null, reach: Reach): Found | null {
  if (!ticket) return null
  const { channelId, organizationId, mode } = ticket
  if (mode !== reach.mode) return null
  if (channelId !== reach.channelId && !reach.ownOrganizationIds.includes(organizationId)) return null
  if (reach.organizationIds.includes(organizationId)) return ticket
  return { ...ticket, rateName: null, rateSlug: null, eventAge: null }
}

const rows = rowsOf(ticketColumns)
const order = [asc(tickets.position), asc(tickets.id)]

const byPaymentId = soldBatch<Ticket>({
  name: 'tickets_by_payment_id',
  rows,
  table: tickets,
  column: tickets.paymentId,
  order,
  key: ({ paymentId }) => paymentId,
})

/** Finds the tickets of an organization's payments `keys`, without permission checks. */
export const findTicketsOfPayments = query('any_tickets_by_payment_id', {
  rows,
  query: (select, keys) =>
    select
      .from(tickets)
      .where(and(anyOf(tickets.paymentId, keys), inOrganization(tickets.organizationId)))
      .orderBy(...order),
})

/** Finds the tickets of a payment without permission checks. */
export const findTicketsOf = (db: Database, { id, organizationId }: Pick<Ticket, 'id' | 'organizationId'>) =>
  findTicketsOfPayments(db, { organizationId, keys: [id] })

export const ticketById = ({ own }: Readers) =>
  new Loader((ids) => Promise.all(ids.map(async (id) => toVisible(await findTicket(own.db, id), own.reach))))
export const ticketsByPaymentId = loadMany('own', byPaymentId)

const findKeysAndTickets = queryTogether('key_and_ticket_by_id', [keysByKeyId, ticketsById])

/** Creates the context of a request for one ticket, which it reads with the key. */
export const createLookupContext = createContextWith<LookupTicket>({
  async find(db, keyIds, ids) {
    const [keys, found] = await findKeysAndTickets(db, { keyIds, keys: ids })
    return [keys, byId(found)]
  },
  prime: ({ loaders }, id, ticket) => loaders.get(ticketById).prime(id, toVisible(ticket, loaders.own.reach)),
})
