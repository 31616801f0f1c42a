import type { Context } from '../../../request/context.ts'
import type { Ticket } from '../../ticket/table.ts'

/** Drops the request's cached rows that a change of a ticket makes stale: the ticket, its payment and
 *  refunds, and the stock of its rate. */
export function clearCachedTicket(
  { loaders }: Context,
  { id, paymentId, ticketRateId, priceId }: Ticket,
): void {
  loaders.ticketById.clear(id)
  loaders.ticketsByPaymentId.clear(paymentId)
  loaders.paymentById.clear(paymentId)
  loaders.refundsByTicketId.clear(id)
  loaders.refundsByPaymentId.clear(paymentId)
  loaders.ticketRateById.clear(ticketRateId)
  loaders.priceById.clear(priceId)
  loaders.pricesByTicketRateId.clear(ticketRateId)
}
