import type { Connection } from '../../../database/database.ts'
import { queueDeliveries } from '../../delivery/queue-deliveries.ts'
import { issueInvoices } from '../../invoice/issue-invoice.ts'
import { paymentChange } from '../../payment/payment-change.ts'
import type { Payment } from '../../payment/table.ts'
import { ticketChange } from '../../ticket/ticket-change.ts'
import { moveStock, stockMoves } from '../../ticket-rate/move-stock.ts'
import { recordAvailability } from '../record-availability.ts'
import { recordChanges } from '../record-changes.ts'
import type { SoldTicket } from './find-sold.ts'
import { markPaid, type PaymentToMark } from './mark-paid.ts'

/** Payment whose row this transaction has locked or written, and its tickets. `endsSession` if paying it ends
 *  its provider session. */
export type Payable<Sold extends SoldTicket> = { payment: Payment; tickets: Sold[]; endsSession?: boolean }

// Sells held places; takes the places of expired tickets again, if they are still available.
const moveOf = { held: { held: -1, sold: 1 }, expired: { sold: 1 } }

/** Marks payments of one organization as paid, with all consequences: activates their tickets, issues
 *  invoices (none for a total of 0), records changes and queues the delivery of tickets. Takes six statements
 *  at most, however many payments. Null if the tickets had expired and there are not enough places left for
 *  all; nothing is changed then (DECISIONS 5). */
export async function recordPaid<Sold extends SoldTicket>(
  tx: Connection,
  payables: Payable<Sold>[],
  from: 'held' | 'expired',
): Promise<Payable<Sold>[] | null> {
  if (payables.length === 0) return []
  const sold = payables.flatMap(({ tickets }) => tickets)
  const moves = stockMoves(sold, moveOf[from])
  // For expired tickets the counters decide whether anything happens at all. For held ones they are locked as
  // late as possible, because all checkouts of the rate wait for them.
  const claimed = from === 'expired' ? await moveStock(tx, moves) : []
  if (!claimed) return null
  await recordChanges(
    tx,
    payables.flatMap(({ payment, tickets }) => [
      paymentChange('payment.paid', { ...payment, status: 'paid' }),
      ...tickets.map((ticket) => ticketChange('ticket.activated', { ...ticket, status: 'active' })),
    ]),
  )
  await queueDeliveries(tx, payables)
  if (from === 'held' && !(await moveStock(tx, moves)))
    throw new Error('stock of held tickets could not be sold')
  await recordAvailability(tx, claimed)
  return writePaid(tx, payables, from)
}

async function writePaid<Sold extends SoldTicket>(
  tx: Connection,
  payables: Payable<Sold>[],
  from: 'held' | 'expired',
): Promise<Payable<Sold>[]> {
  const references = await issueReferences(tx, payables)
  const marked = payables.map(
    ({ payment: { id }, endsSession = false }): PaymentToMark => ({
      id,
      endsSession,
      invoiceReference: references.get(id) ?? null,
    }),
  )
  const { tokens, at } = await markPaid(tx, marked, from)
  return payables.map(({ payment, tickets }) => {
    const invoiceReference = references.get(payment.id) ?? null
    return {
      payment: { ...payment, status: 'paid', paidAt: at, invoiceReference },
      tickets: tickets.map((ticket) => {
        const documentToken = tokens.get(ticket.id)
        if (!documentToken) throw new Error(`ticket ${ticket.id} of a paid payment was not activated`)
        return { ...ticket, status: 'active', activatedAt: at, documentToken, invoiceReference }
      }),
    }
  })
}

// Returns invoice references by payment id.
async function issueReferences(
  tx: Connection,
  payables: Payable<SoldTicket>[],
): Promise<Map<string, string>> {
  const invoiced = payables.flatMap(({ payment }) => (payment.totalAmount > 0 ? [payment] : []))
  const [first] = invoiced
  if (!first) return new Map()
  const { organizationId } = first
  if (invoiced.some((payment) => payment.organizationId !== organizationId))
    throw new Error('payments of several organizations were settled together')
  const references = await issueInvoices(
    tx,
    { organizationId, kind: 'invoice' },
    invoiced.map(({ id, totalAmount, currency }) => ({
      paymentId: id,
      refundId: null,
      amount: totalAmount,
      currency,
    })),
  )
  return new Map(invoiced.map(({ id }, index) => [id, references[index] ?? '']))
}
