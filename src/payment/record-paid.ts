import { and, eq, inArray, sql } from 'drizzle-orm'
import { byKey } from '../batch.ts'
import { recordChanges } from '../change/record-changes.ts'
import type { Connection } from '../database.ts'
import { queueDeliveries } from '../delivery/queue-deliveries.ts'
import { issueInvoice } from '../invoice/issue-invoice.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { ticketChange } from '../ticket/ticket-change.ts'
import { moveStock, stockMoves, type Turned } from '../ticket-rate/move-stock.ts'
import { recordAvailability } from '../ticket-rate/record-availability.ts'
import { paymentChange } from './payment-change.ts'
import { type Payment, payments } from './table.ts'
import { canBecome } from './transitions.ts'

/** Payments and their tickets as they are now, and the rates and prices that this used up. */
export type Paid = { paid: { payment: Payment; tickets: Ticket[] }[]; turned: Turned[] }

// What was held is sold; what was given back already is taken again, if it is still there.
const moveOf = { held: { held: -1, sold: 1 }, expired: { sold: 1 } }

// 244 random bits of the database's cryptographic source, new ones for each row.
const newToken = sql`replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`

/** Makes payments paid whose rows this transaction has locked, and all that follows from it: their tickets are active,
 *  they have invoices, clients are told, and buyers are sent their tickets. Null where tickets had expired and there
 *  are not enough places left for all: then nothing is changed. What costs nothing has no invoice (DECISIONS 5). */
export async function recordPaid(
  tx: Connection,
  paymentIds: string[],
  from: 'held' | 'expired',
): Promise<Paid | null> {
  if (paymentIds.length === 0) return { paid: [], turned: [] }
  const of = await tx
    .select()
    .from(tickets)
    .where(and(inArray(tickets.paymentId, paymentIds), eq(tickets.status, from)))
  const moves = stockMoves(of, moveOf[from])
  // Late, the counters decide whether anything is done at all; in time, they are locked as late as can be, because they
  // are what a sale waits for.
  const claimed = from === 'expired' ? await moveStock(tx, moves) : []
  if (!claimed) return null
  const made = await markPaid(tx, paymentIds)
  const ticketsOf = byKey(await activate(tx, of), ({ paymentId }) => paymentId)
  const paid = made.map((payment) => ({ payment, tickets: ticketsOf.get(payment.id) ?? [] }))
  await recordChanges(
    tx,
    paid.flatMap(({ payment, tickets }) => [
      paymentChange('payment.paid', payment),
      ...tickets.map((ticket) => ticketChange('ticket.activated', ticket)),
    ]),
  )
  await queueDeliveries(tx, paid)
  if (from === 'held' && !(await moveStock(tx, moves))) throw new Error('what was held can be sold')
  await recordAvailability(tx, claimed)
  await setInvoices(tx, paid)
  return { paid, turned: claimed }
}

async function markPaid(tx: Connection, paymentIds: string[]): Promise<Payment[]> {
  const made = await tx
    .update(payments)
    .set({ status: 'paid', paidAt: sql`now()` })
    .where(and(inArray(payments.id, paymentIds), canBecome('paid')))
    .returning()
  if (made.length < paymentIds.length) throw new Error('payments that are made paid may become that')
  return made
}

// In the order of their organizations, so that two transactions never wait for each other's series.
async function setInvoices(tx: Connection, paid: Paid['paid']): Promise<void> {
  const invoiced = paid
    .filter(({ payment }) => payment.totalAmount > 0)
    .sort((a, b) => (a.payment.organizationId < b.payment.organizationId ? -1 : 1))
  for (const made of invoiced) {
    const { payment } = made
    const { id, organizationId, totalAmount: amount, currency } = payment
    const of = { organizationId, paymentId: id, refundId: null, amount, currency }
    const invoice = { invoiceReference: await issueInvoice(tx, { kind: 'invoice', ...of }) }
    await tx.update(payments).set(invoice).where(eq(payments.id, id))
    await tx.update(tickets).set(invoice).where(eq(tickets.paymentId, id))
    made.payment = { ...payment, ...invoice }
    made.tickets = made.tickets.map((ticket) => ({ ...ticket, ...invoice }))
  }
}

async function activate(tx: Connection, of: Ticket[]): Promise<Ticket[]> {
  const ids = of.map(({ id }) => id)
  const activated = await tx
    .update(tickets)
    .set({ status: 'active', activatedAt: sql`now()`, documentToken: newToken })
    .where(inArray(tickets.id, ids))
    .returning()
  return activated.sort((a, b) => a.position - b.position)
}
