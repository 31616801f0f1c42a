import { sql } from 'drizzle-orm'
import { arrayRows } from '../../../engine/data/array-params.ts'
import { inOrganization, query } from '../../../engine/data/query.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { announceOnCommit, atOnce } from '../../../engine/database/transaction.ts'
import { recordChanges } from '../../change/record-changes.ts'
import { queueDeliveries } from '../../delivery/queue-deliveries.ts'
import { events } from '../../event/table.ts'
import { issueInvoices } from '../../invoice/issue-invoice.ts'
import { locations } from '../../location/table.ts'
import { paymentChange } from '../../payment/body.ts'
import { dropExpiries, dropSessions } from '../../payment/queue/follow-payments.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { wherePaymentMayBecome } from '../../payment/transitions.ts'
import { moveStock, stockMoves } from '../../stock/move-stock.ts'
import { ticketChange } from '../../ticket/body.ts'
import { type Ticket, tickets } from '../../ticket/table.ts'
import { recordAvailability } from '../../ticket-rate/record-availability.ts'

const marked = arrayRows('marked', { id: 'text', invoiceReference: 'text', endsSession: 'boolean' })

const markPayments = query<{ id: string }>(
  'mark_payments_paid',
  () => sql`
  update ${payments} set status = 'paid', paid_at = ${nowMs}, invoice_reference = ${marked.cells.invoiceReference},
    session_open = session_open and not ${marked.cells.endsSession}
  from ${marked.rows}
  where ${inOrganization(payments.organizationId)} and ${payments.id} = ${marked.cells.id} and ${wherePaymentMayBecome('paid')}
  returning ${payments.id}`,
)

const timezone = sql`coalesce((select ${locations.timezone} from ${events} join ${locations} on ${locations.id} = ${events.locationId}
  where ${events.id} = ${tickets.eventId}), 'UTC')`

const activateTickets = query<{ at: string }>(
  'activate_tickets',
  () => sql`
  update ${tickets} set status = 'active', activated_at = ${nowMs},
    sold_on = (${nowMs} at time zone ${timezone})::date, invoice_reference = ${marked.cells.invoiceReference},
    updated_at = ${nowMs}
  from ${marked.rows}
  where ${inOrganization(tickets.organizationId)} and ${tickets.paymentId} = ${marked.cells.id}
    and ${tickets.status} = ${sql.placeholder('from')}::text::ticket_status
  returning ${tickets.activatedAt} as at`,
)

/** Payment whose row this transaction has locked or written, and its tickets. `endsSession` if paying it ends
 *  its provider session, `isPublic` if a publishable key sold it for nothing. */
type Payable = {
  payment: Payment
  tickets: Ticket[]
  endsSession?: boolean
  isPublic?: boolean | undefined
}

// Sells held places; takes the places of expired tickets again, if they are still available.
const moveOf = { held: { held: -1, sold: 1 }, expired: { sold: 1 } }

/** Marks payments of one organization and mode as paid, with all consequences: activates their tickets, issues
 *  invoices (none for a total of 0), records changes and queues the delivery of tickets. Takes as many statements for
 *  one payment as for many. Null if the tickets had expired and there are not enough places left for
 *  all; nothing is changed then (DECISIONS, states). */
export async function markPaid(tx: Connection, payables: Payable[], from: 'held' | 'expired') {
  const [first] = payables
  if (!first) return []
  const { organizationId, mode } = first.payment
  const sold = payables.flatMap(({ tickets }) => tickets)
  const moves = stockMoves(sold, moveOf[from])
  // For expired tickets the counters decide whether anything happens at all. For held ones they are locked as
  // late as possible, because all checkouts of the rate wait for them.
  const claimed = from === 'expired' ? await moveStock(tx, organizationId, mode, moves) : []
  if (!claimed) return null
  const changes = payables.flatMap(({ payment, tickets }) => [
    paymentChange('payment.paid', { ...payment, status: 'paid' }, tickets),
    ...tickets.map((ticket) => ticketChange('ticket.activated', { ...ticket, status: 'active' })),
  ])
  const paid = payables.map(({ payment }) => payment)
  const ended = payables.filter(({ endsSession }) => endsSession).map(({ payment }) => payment)
  await atOnce(
    recordChanges(tx, changes),
    queueDeliveries(tx, payables),
    dropExpiries(tx, paid, sold),
    dropSessions(tx, ended),
  )
  if (from === 'held' && !(await moveStock(tx, organizationId, mode, moves)))
    throw new Error('stock of held tickets could not be sold')
  await recordAvailability(tx, organizationId, mode, claimed)
  const invoiced = paid.flatMap(({ id, totalAmount, currency }) =>
    totalAmount > 0 ? [{ paymentId: id, amount: totalAmount, currency }] : [],
  )
  const references = await issueInvoices(tx, { organizationId, mode }, 'invoice', invoiced)
  const rows = payables.map(({ payment: { id }, endsSession = false }) => {
    return { id, endsSession, invoiceReference: references.get(id) }
  })
  const values = { organizationId, ...marked.values(rows) }
  const [marks, activated] = await atOnce(markPayments(tx, values), activateTickets(tx, { ...values, from }))
  const [ticket] = activated
  if (!ticket || marks.length < paid.length || activated.length < sold.length)
    throw new Error('a payment or one of its tickets was not marked as paid')
  const ids = marks.map(({ id }) => id)
  announceOnCommit(tx, 'payments', ids)
  const at = new Date(ticket.at)
  return payables.map(({ payment, tickets }): Payable => {
    const invoiceReference = references.get(payment.id) ?? null
    return {
      payment: { ...payment, status: 'paid', paidAt: at, invoiceReference },
      tickets: tickets.map((ticket) => ({ ...ticket, status: 'active', activatedAt: at, invoiceReference })),
    }
  })
}
