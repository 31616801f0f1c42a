import { z } from 'zod'
import { groupBy } from '../../../engine/base/group-by.ts'
import * as scalars from '../../../engine/base/input-types.ts'
import type { Connection } from '../../../engine/database/database.ts'
import type { Context } from '../../caller/context.ts'
import { requirePayment } from '../../payment/loaders.ts'
import { lockPayments } from '../../payment/lock-payment.ts'
import type { Payment } from '../../payment/table.ts'
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
export async function findNamed({ ticketId, paymentId = '' }: z.output<typeof ticketsOf>, ctx: Context) {
  if (ticketId !== undefined)
    return { ...(await requireTicket(ticketId, ctx, ['of', 'ticketId'])), ids: [ticketId] }
  const payment = await requirePayment(paymentId, ctx, ['of', 'paymentId'])
  const tickets = await findTicketsOf(ctx.db, payment)
  return { ...payment, paymentId, ids: tickets.map(({ id }) => id) }
}

/** A locked payment, and tickets of it that are locked, in the order of the checkout. */
export type LockedTickets = { payment: Payment; tickets: Ticket[] }

/** Locks tickets of locked payments of one organization. Returns each payment with its own; undefined in the place of one
 *  that is not locked. */
export async function lockTicketsOf(tx: Connection, payments: Map<string, Payment>, named: NamedTickets[]) {
  const organizationId = named[0]?.organizationId ?? ''
  const taken = named.filter(({ paymentId }) => payments.has(paymentId))
  const keys = [...new Set(taken.flatMap(({ ids }) => ids))]
  const tickets = await lockTickets(tx, { organizationId, keys })
  const inOrder = tickets.sort((one, other) => one.position - other.position)
  const own = groupBy(inOrder, ({ paymentId }) => paymentId)
  return named.map(({ paymentId, ids }) => {
    const payment = payments.get(paymentId)
    const tickets = own.get(paymentId) ?? []
    return payment && { payment, tickets: tickets.filter(({ id }) => ids.includes(id)) }
  })
}

/** Locks a payment and then tickets of it. */
export async function lockNamed(tx: Connection, named: NamedTickets): Promise<LockedTickets> {
  const { organizationId, paymentId } = named
  const payments = await lockPayments(tx, organizationId, [paymentId], 'wait')
  const [locked] = await lockTicketsOf(tx, payments, [named])
  if (!locked) throw new Error(`payment ${paymentId} not found`)
  return locked
}
