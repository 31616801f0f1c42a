import type { Connection } from '../../../database/database.ts'
import { queueDeliveries } from '../../delivery/queue-deliveries.ts'
import { issueInvoices } from '../../invoice/issue-invoice.ts'
import { paymentChange } from '../../payment/payment-change.ts'
import type { Payment } from '../../payment/table.ts'
import { ticketChange } from '../../ticket/ticket-change.ts'
import { moveStock, type StockFlip, stockMoves } from '../../ticket-rate/move-stock.ts'
import { recordAvailability } from '../record-availability.ts'
import { recordChanges } from '../record-changes.ts'
import type { SoldTicket } from './find-sold.ts'
import { type Marked, markPaid } from './mark-paid.ts'

/** A payment whose row this transaction has locked or written, its tickets, and whether its session is over with it. */
export type Payable<Sold extends SoldTicket> = { payment: Payment; tickets: Sold[]; endsSession?: boolean }

/** Payments and their tickets as they are now, and the rates and prices that this used up. */
export type Paid<Sold extends SoldTicket> = { paid: Payable<Sold>[]; flipped: StockFlip[] }

// Held places are sold; places that were given back already are taken again, if they are still there.
const moveOf = { held: { held: -1, sold: 1 }, expired: { sold: 1 } }

/** Makes payments of one organization paid, and all that follows from it: their tickets are active, they have invoices,
 *  clients are told, and buyers are sent their tickets. Six statements at most, however many payments. Null where
 *  tickets had expired and there are not enough places left for all: then nothing is changed. No invoice for a total
 *  of 0 (DECISIONS 5). */
export async function recordPaid<Sold extends SoldTicket>(
  tx: Connection,
  payables: Payable<Sold>[],
  from: 'held' | 'expired',
): Promise<Paid<Sold> | null> {
  if (payables.length === 0) return { paid: [], flipped: [] }
  const sold = payables.flatMap(({ tickets }) => tickets)
  const moves = stockMoves(sold, moveOf[from])
  // Late, the counters decide whether anything is done at all; in time, they are locked as late as can be, because they
  // are what a sale waits for.
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
  if (from === 'held' && !(await moveStock(tx, moves))) throw new Error('held places could not be sold')
  await recordAvailability(tx, claimed)
  return { paid: await writePaid(tx, payables, from), flipped: claimed }
}

async function writePaid<Sold extends SoldTicket>(
  tx: Connection,
  payables: Payable<Sold>[],
  from: 'held' | 'expired',
): Promise<Payable<Sold>[]> {
  const references = await issueFor(tx, payables)
  const marked = payables.map(
    ({ payment: { id }, endsSession = false }): Marked => ({
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

// References by payments.
async function issueFor(tx: Connection, payables: Payable<SoldTicket>[]): Promise<Map<string, string>> {
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
