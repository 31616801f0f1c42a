import { and, asc, eq, sql } from 'drizzle-orm'
import { rowsOf } from '../../../data/json-rows.ts'
import { anyOf, preparedRows } from '../../../data/prepared.ts'
import type { Connection } from '../../../database/database.ts'
import { groupBy } from '../../../shared/group-by.ts'
import { type Ticket, tickets } from '../../ticket/table.ts'

const soldColumns = {
  id: tickets.id,
  paymentId: tickets.paymentId,
  organizationId: tickets.organizationId,
  channelId: tickets.channelId,
  eventId: tickets.eventId,
  ticketRateId: tickets.ticketRateId,
  priceId: tickets.priceId,
  status: tickets.status,
  email: tickets.email,
  phone: tickets.phone,
  admits: tickets.admits,
  entered: tickets.entered,
}

/** Columns of a ticket that settling its payment needs. */
export type SoldTicket = Pick<Ticket, keyof typeof soldColumns>

const find = preparedRows('tickets_to_be_sold', {
  rows: rowsOf(soldColumns),
  query: (select) =>
    select
      .from(tickets)
      .where(
        and(
          anyOf(tickets.paymentId, 'paymentIds'),
          eq(tickets.status, sql`${sql.placeholder('status')}::text::ticket_status`),
        ),
      )
      .orderBy(asc(tickets.paymentId), asc(tickets.position)),
})

/** Finds the tickets of payments in a given status, in order of position, grouped by payment id. */
export async function findSold(
  tx: Connection,
  paymentIds: string[],
  status: Ticket['status'],
): Promise<Map<string, SoldTicket[]>> {
  return groupBy(await find(tx, { paymentIds, status }), ({ paymentId }) => paymentId)
}
