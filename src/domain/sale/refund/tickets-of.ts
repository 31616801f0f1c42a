import { z } from 'zod'
import type { Connection } from '../../../database/database.ts'
import { atOnce } from '../../../database/transaction.ts'
import type { Context } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
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

/** A locked payment, and tickets of it that are locked, in the order of the checkout. */
export type LockedTickets = { payment: Payment; tickets: Ticket[] }

/** Locks payments of one organization and then tickets of them. Returns each with its own. */
export async function lockAllNamed(tx: Connection, named: NamedTickets[]): Promise<LockedTickets[]> {
  const organizationId = named[0]?.organizationId ?? ''
  const paymentIds = [...new Set(named.map(({ paymentId }) => paymentId))]
  const keys = [...new Set(named.flatMap(({ ids }) => ids))]
  const [payments, tickets] = await atOnce(
    lockPayments(tx, organizationId, paymentIds, 'wait'),
    lockTickets(tx, { organizationId, keys }),
  )
  tickets.sort((one, other) => one.position - other.position)
  return named.map(({ paymentId, ids }) => {
    const payment = payments.get(paymentId)
    if (!payment) throw new Error(`payment ${paymentId} not found`)
    return { payment, tickets: tickets.filter(({ id }) => ids.includes(id)) }
  })
}

/** Locks a payment and then tickets of it. */
export async function lockNamed(tx: Connection, named: NamedTickets): Promise<LockedTickets> {
  const [locked] = await lockAllNamed(tx, [named])
  if (!locked) throw new Error(`payment ${named.paymentId} was not locked`)
  return locked
}
