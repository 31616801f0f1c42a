import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { ownById, query } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import type { Context } from '../caller/context.ts'
import { refusal } from '../contract/problem-codes.ts'
import { ticketById } from './loaders.ts'
import { retiredDocuments, type Ticket, ticketColumns, tickets } from './table.ts'

/** Loads a ticket of the caller. Refuses: NOT_FOUND, also for somebody else's ticket (DECISIONS, access). */
export async function requireTicket(id: string, { loaders }: Context, path = ['ticketId']) {
  const ticket = await loaders.load(ticketById, id)
  if (!ticket) throw refusal('NOT_FOUND', 'There is no such ticket.', path)
  return ticket
}

/** Primary key of a ticket. */
export type TicketName = Pick<Ticket, 'id' | 'organizationId'>

/** Condition that matches a ticket by its primary key. */
export const isTicket = ({ id, organizationId }: TicketName): SQL | undefined =>
  and(eq(tickets.organizationId, organizationId), eq(tickets.id, id))

/** Condition that a ticket was ever given to another person. */
export const wasTransferred = ({ id, organizationId }: TicketName): SQL<boolean> =>
  sql`exists (select from ${retiredDocuments}
    where ${retiredDocuments.organizationId} = ${organizationId} and ${retiredDocuments.ticketId} = ${id})`

/** Creates a statement that reads these columns of tickets of an organization by their ids and locks their rows until the
 *  transaction ends, in the order of their ids. If their payments are locked too, lock the payments first. */
export const ticketLock = <Columns extends Record<string, PgColumn>>(name: string, columns: Columns) =>
  query(name, {
    rows: rowsOf(columns),
    query: (select, keys) => ownById(tickets)(select, keys).orderBy(tickets.id).for('update'),
  })

/** Locks tickets and reads all of their columns. */
export const lockTickets = ticketLock('lock_tickets', ticketColumns)

/** Locks one ticket, which must exist. */
export async function lockTicket(tx: Connection, { id, organizationId }: TicketName): Promise<Ticket> {
  const [ticket] = await lockTickets(tx, { organizationId, keys: [id] })
  if (!ticket) throw new Error(`ticket ${id} not found`)
  return ticket
}

/** Refuses: ALREADY_ENTERED if anybody has ever entered with the ticket. */
export function requireUnused({ entered, firstEntryAt }: Ticket): void {
  if (entered > 0 || firstEntryAt)
    throw refusal('ALREADY_ENTERED', 'Somebody has already entered with this ticket.')
}
