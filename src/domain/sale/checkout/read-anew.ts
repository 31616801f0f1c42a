import type { Context } from '../../../request/context.ts'
import type { Ticket } from '../../ticket/table.ts'

/** Has the rest of a request read anew what it has just changed: a ticket, its payment,
 *  and what is left of its rate. */
export function readAnew({ loaders }: Context, { id, paymentId, ticketRateId, priceId }: Ticket): void {
  loaders.ticketById.clear(id)
  loaders.ticketsByPaymentId.clear(paymentId)
  loaders.paymentById.clear(paymentId)
  loaders.refundsByTicketId.clear(id)
  loaders.refundsByPaymentId.clear(paymentId)
  loaders.ticketRateById.clear(ticketRateId)
  loaders.priceById.clear(priceId)
  loaders.pricesByTicketRateId.clear(ticketRateId)
}
