import type { Ticket } from './table.ts'

// What both surfaces say of a ticket beyond its columns. Amounts in minor units (DECISIONS 5).

/** The word of the lookup view: `pending` until it is paid. */
export const lookupStatuses = ['pending', 'activated', 'cancelled', 'expired'] as const
export const lookupStatus = ({ status }: Pick<Ticket, 'status'>): (typeof lookupStatuses)[number] =>
  status === 'held' ? 'pending' : status === 'active' ? 'activated' : status

/** The word of the checkout view: `active` from the start, as documented. */
export const checkoutStatuses = ['active', 'cancelled', 'expired'] as const
export const checkoutStatus = ({ status }: Ticket): (typeof checkoutStatuses)[number] =>
  status === 'held' ? 'active' : status

export const isPaid = ({ activatedAt }: Ticket): boolean => activatedAt !== null

/** What the buyer paid for it: nothing yet while it is pending. */
export const totalPaid = (ticket: Ticket): number => (isPaid(ticket) ? ticket.totalAmount : 0)

/** What the organization keeps of it, after refunds and the platform's commission, whether or not it was cancelled. The
 *  commission comes out of what is left: who gives all back keeps nothing, and owes nothing. */
export const raised = (ticket: Ticket): number =>
  isPaid(ticket) ? Math.max(0, ticket.totalAmount - ticket.refundedAmount - ticket.platformFeeAmount) : 0

/** Supplements and warranty. */
export const totalExtras = (ticket: Ticket): number => ticket.supplementsAmount + ticket.warrantyAmount

/** The last entry as unix seconds, 0 when nobody entered. */
export const entryDate = ({ lastEntryAt }: Ticket): number =>
  lastEntryAt ? Math.floor(lastEntryAt.getTime() / 1000) : 0

/** A ticket takes each supplement once, and nobody has used it up yet. */
export const productQuantity = 1
export const productQuantityUsed = 0

/** Every ticket here is sold online. */
export const saleType = 'online'
