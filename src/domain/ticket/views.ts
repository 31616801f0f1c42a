import { feeOf } from '../ticket-rate/sale-rules.ts'
import type { Price } from '../ticket-rate/table.ts'
import type { Ticket } from './table.ts'

// Derived fields of a ticket, for both surfaces. Amounts in minor units (DECISIONS, states).

/** Ticket statuses of the REST lookup: `pending` until payment. */
export const lookupStatuses = ['pending', 'activated', 'cancelled', 'expired'] as const
export const lookupStatus = ({ status }: Pick<Ticket, 'status'>): (typeof lookupStatuses)[number] =>
  status === 'held' ? 'pending' : status === 'active' ? 'activated' : status

/** Ticket statuses of the REST checkout response: `active` from the start, as documented. */
export const checkoutStatuses = ['active', 'cancelled', 'expired'] as const
export const checkoutStatus = ({ status }: Ticket): (typeof checkoutStatuses)[number] =>
  status === 'held' ? 'active' : status

/** Reports whether a warranty was bought with a ticket. */
export const hasWarranty = ({ warrantyHours, warrantyAmount }: Ticket): boolean =>
  warrantyHours > 0 || warrantyAmount > 0

export const isPaid = ({ activatedAt }: Ticket): boolean => activatedAt !== null

/** Amount paid by the buyer; 0 unless paid. */
export const totalPaid = (ticket: Ticket): number => (isPaid(ticket) ? ticket.totalAmount : 0)

/** Price with the amounts that a ticket was sold at, whatever an import has made of them since. A fee that its terms
 *  would not give any more is shown as a fixed one (DECISIONS 59). */
export function priceAsSold(price: Price, ticket: Ticket): Price {
  const { priceAmount, discountAmount, organizationFeeAmount } = ticket
  const hasSameFee = feeOf(price, priceAmount - discountAmount) === organizationFeeAmount
  if (hasSameFee && price.amount === priceAmount) return price
  const fee = hasSameFee ? {} : { feeType: 'fixed' as const, feeQuantity: organizationFeeAmount }
  return { ...price, amount: priceAmount, ...fee }
}

/** Amount that the organization keeps after refunds and the platform's commission, cancelled or not. Never
 *  negative: after a full refund the organization keeps nothing and owes no commission. */
export const raised = (ticket: Ticket): number =>
  isPaid(ticket) ? Math.max(0, ticket.totalAmount - ticket.refundedAmount - ticket.platformFeeAmount) : 0

/** Commission that the platform keeps: no more than refunds have left of what was paid. */
export const commission = (ticket: Ticket): number =>
  totalPaid(ticket) - ticket.refundedAmount - raised(ticket)

/** Total of supplements and warranty. */
export const totalExtras = (ticket: Ticket): number => ticket.supplementsAmount + ticket.warrantyAmount

/** Time of the last entry in Unix seconds; 0 if nobody has entered. */
export const entryDate = ({ lastEntryAt }: Ticket): number =>
  lastEntryAt ? Math.floor(lastEntryAt.getTime() / 1000) : 0

/** URL of a ticket's PDF. The token is unguessable, and anybody with the URL has the ticket. Null unless the
 *  ticket is active. */
export const documentUrl = (ticket: Pick<Ticket, 'status' | 'documentToken'>, publicUrl: string) =>
  ticket.status === 'active' ? `${publicUrl}/tickets/${ticket.documentToken}.pdf` : null
