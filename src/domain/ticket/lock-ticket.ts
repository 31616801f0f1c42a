import { eq } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { type Ticket, tickets } from './table.ts'

/** Reads a ticket and locks its row until the transaction ends. If the payment is locked too, lock the
 *  payment first. */
export async function lockTicket(tx: Connection, ticketId: string): Promise<Ticket> {
  const [ticket] = await tx.select().from(tickets).where(eq(tickets.id, ticketId)).for('update')
  if (!ticket) throw new Error(`ticket ${ticketId} not found`)
  return ticket
}
