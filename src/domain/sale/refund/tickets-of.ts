import { z } from 'zod'
import type { Connection } from '../../../database/database.ts'
import type { Context } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { requirePayment } from '../../payment/loaders.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { findTicketsOf } from '../../ticket/loaders.ts'
import { lockTickets, requireTicket } from '../../ticket/require-ticket.ts'
import type { Ticket } from '../../ticket/table.ts'

/** Tickets that a mutation is about. GraphQL makes it one of the two. */
export const ticketsOf = z
  .object({
    ticketId: scalars.id.optional().describe('Ticket identifier.'),
    paymentId: scalars.id.optional().describe('Payment identifier, for all its tickets.'),
  })
  .describe('One ticket, or all tickets of a payment.')

/** Tickets of one payment, by their identifiers. */
export type NamedTickets = Pick<Ticket, 'organizationId' | 'paymentId' | 'currency'> & { ids: string[] }

/** Finds the tickets that a caller names. Refuses: NOT_FOUND. */
export async function findNamed(
  { ticketId, paymentId = '' }: z.output<typeof ticketsOf>,
  ctx: Context,
): Promise<NamedTickets> {
  if (ticketId !== undefined)
    return { ...(await requireTicket(ticketId, ctx, ['of', 'ticketId'])), ids: [ticketId] }
  const payment = await requirePayment(paymentId, ctx, ['of', 'paymentId'])
  const tickets = await findTicketsOf(ctx.db, payment)
  return { ...payment, paymentId, ids: tickets.map(({ id }) => id) }
}

/** Locks a payment and then tickets of it. Returns the tickets in the order of the checkout. */
export async function lockNamed(tx: Connection, { organizationId, paymentId, ids }: NamedTickets) {
  const payment = await lockPayment(tx, { organizationId, id: paymentId })
  const locked = await lockTickets(tx, { organizationId, keys: ids })
  return { payment, tickets: locked.sort((one, other) => one.position - other.position) }
}
