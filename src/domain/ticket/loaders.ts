import { and, asc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { type Batch, loadMany, type Readers } from '../../data/batch-loader.ts'
import { coalesceReads } from '../../data/coalesce.ts'
import { fewRowsOf, type Rows, rowsOf } from '../../data/json-rows.ts'
import { Loader } from '../../data/loader.ts'
import {
  anyOf,
  type Find,
  findTogether,
  isIdentifier,
  rowStatement,
  type Scope,
} from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { createContextWith, keysByKeyId } from '../../request/prefetch.ts'
import { events } from '../event/table.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { type LookupTicket, type Ticket, tickets } from './table.ts'

const lookupRows: Rows<LookupTicket> = fewRowsOf({
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

/** What finds tickets by their ids with all that is shown of them, because a second statement would cost what the first
 *  does. */
const findTickets: Find<LookupTicket> = {
  rows: lookupRows,
  query: (select) =>
    select
      .from(tickets)
      .innerJoin(ticketRates, eq(ticketRates.id, tickets.ticketRateId))
      .innerJoin(events, eq(events.id, tickets.eventId))
      .innerJoin(prices, eq(prices.id, tickets.priceId))
      .where(anyOf(tickets.id, 'keys')),
}

// All look up together, whoever's the tickets are.
const ticketByTurn = coalesceReads<LookupTicket>(async (db, keys) => {
  const found = await rowStatement(db, 'ticket_by_id', findTickets).execute({ keys })
  return new Map(found.map((ticket) => [ticket.id, ticket]))
})

/** A ticket, whoever may see it: to be shown as `toSeen` gives it. */
export const findTicket = async (db: Database, id: string): Promise<LookupTicket | null> =>
  isIdentifier(id) ? ticketByTurn(db, id) : null

/** A ticket as a caller sees it: null where it is not its own, without what its rate and event say where the
 *  organization no longer grants them. */
function toSeen(ticket: LookupTicket | null, scope: Scope): LookupTicket | null {
  if (!ticket) return null
  const { channelId, organizationId } = ticket
  if (channelId !== scope.channelId && !scope.ownOrganizationIds.includes(organizationId)) return null
  if (scope.organizationIds.includes(organizationId)) return ticket
  return { ...ticket, rateName: null, rateSlug: null, eventAge: null }
}

const byPaymentId: Batch<Ticket> = {
  name: 'tickets_by_payment_id',
  rows: rowsOf(getTableColumns(tickets)),
  query: (select) =>
    select
      .from(tickets)
      .where(and(anyOf(tickets.paymentId, 'keys'), own))
      .orderBy(asc(tickets.position), asc(tickets.id)),
  key: ({ paymentId }) => paymentId,
}

export const ticketById = ({ own: { db, scope } }: Readers) =>
  new Loader((ids) => Promise.all(ids.map(async (id) => toSeen(await findTicket(db, id), scope))))
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
  prime: ({ loaders }, id, ticket) => loaders.get(ticketById).prime(id, toSeen(ticket, loaders.own.scope)),
})
