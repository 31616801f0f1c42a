import { eq } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { type Ticket, tickets } from './table.ts'

/** A ticket whose row stays locked until the transaction ends. Where its payment is locked as well, that is first. */
export async function lockTicket(tx: Connection, ticketId: string): Promise<Ticket> {
  const [ticket] = await tx.select().from(tickets).where(eq(tickets.id, ticketId)).for('update')
  if (!ticket) throw new Error('a ticket that something becomes of exists')
  return ticket
}
