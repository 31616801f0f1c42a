import { and, asc, eq, inArray, isNull, notExists, sql } from 'drizzle-orm'
import { makeOnce } from '../../../data/idempotency.ts'
import { inSeconds } from '../../../database/clock.ts'
import { type Connection, isUnavailable } from '../../../database/database.ts'
import type { Context } from '../../../request/context.ts'
import { illegalTransition, Refusal } from '../../../shared/errors.ts'
import { newId } from '../../../shared/ids.ts'
import { toMajor } from '../../../shared/money.ts'
import { lockPayment, type PaymentName } from '../../payment/lock-payment.ts'
import { ownProvider } from '../../payment/provider.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { lockTicket, type TicketName } from '../../ticket/require-ticket.ts'
import type { LookupTicket, Ticket } from '../../ticket/table.ts'
import { isPaid } from '../../ticket/views.ts'
import { leaseSeconds, requestProviderRefund } from './request-provider-refund.ts'
import { refundTransaction, settleRefund } from './settle-refund.ts'

type NewRefund = Partial<Pick<RefundAttempt, 'idempotencyKey' | 'requestHash'>> & {
  reason: 'REQUESTED' | 'WARRANTY'
  /** Minor units; everything left to refund if omitted. */
  amount?: number
  /** Part of the price that is not refundable, in minor units. */
  nonRefundable?: number
}

// Finds the charge that paid for the tickets. Extra charges are refunded in full by themselves; of this one
// at most a surplus is.
async function findPayingCharge(
  tx: Connection,
  { id: paymentId, organizationId }: PaymentName,
): Promise<Charge> {
  const fullRefund = tx
    .select({ one: sql`1` })
    .from(refunds)
    .where(
      and(
        eq(refunds.organizationId, charges.organizationId),
        eq(refunds.chargeId, charges.id),
        isNull(refunds.ticketId),
        eq(refunds.amount, charges.amount),
      ),
    )
  const [charge] = await tx
    .select()
    .from(charges)
    .where(
      and(
        eq(charges.organizationId, organizationId),
        eq(charges.paymentId, paymentId),
        notExists(fullRefund),
      ),
    )
    .orderBy(asc(charges.createdAt), asc(charges.id))
    .limit(1)
  if (!charge) throw new Error(`payment ${paymentId} has no charge to refund`)
  return charge
}

// Adds up the refunds of a ticket that have succeeded or are pending.
async function sumRefunds(tx: Connection, { id: ticketId, organizationId }: TicketName): Promise<number> {
  const [sum] = await tx
    .select({ amount: sql<number>`coalesce(sum(${refunds.amount}), 0)::float8` })
    .from(refunds)
    .where(
      and(
        eq(refunds.organizationId, organizationId),
        eq(refunds.ticketId, ticketId),
        inArray(refunds.status, ['pending', 'succeeded']),
      ),
    )
  return sum?.amount ?? 0
}

/** Creates a pending refund of a ticket. The caller makes the first attempt at once; a background job takes
 *  over when its lease ends. Requires this transaction to hold the row locks of the payment, then of the
 *  ticket, so that all refunds together never exceed the amount paid.
 *  Refuses: ILLEGAL_TRANSITION if the ticket is unpaid; REFUND_TOO_HIGH. */
export async function openRefund(
  tx: Connection,
  payment: Payment,
  ticket: Ticket,
  { amount: requested, nonRefundable = 0, ...columns }: NewRefund,
): Promise<RefundAttempt> {
  if (!isPaid(ticket)) throw new Refusal(illegalTransition('payment', payment.status, 'refunded'))
  const { currency } = ticket
  const refundable = Math.max(0, ticket.totalAmount - nonRefundable - (await sumRefunds(tx, ticket)))
  const amount = requested ?? refundable
  if (amount === 0 || amount > refundable)
    throw new Refusal({
      code: 'REFUND_TOO_HIGH',
      message: refundable === 0 ? 'Nothing is left to refund.' : 'The amount is more than is left to refund.',
      facts: { refundable: toMajor(refundable, currency) },
    })
  const [refund] = await tx
    .insert(refunds)
    .values({
      id: newId('ref'),
      paymentId: payment.id,
      chargeId: (await findPayingCharge(tx, payment)).id,
      ticketId: ticket.id,
      organizationId: ticket.organizationId,
      channelId: ticket.channelId,
      mode: ticket.mode,
      amount,
      currency,
      attempts: 1,
      dueAt: inSeconds(leaseSeconds),
      ...columns,
    })
    .returning()
  if (!refund) throw new Error('the inserted refund was not returned')
  return refund
}

type Opened = { refund: RefundAttempt; isNew: boolean }

// Settles a new refund of what the box office took in the transaction that opens it: the organization gives
// the money back by hand, and no provider ever hears of it.
async function settleByHand(tx: Connection, { provider }: Payment, opened: Opened): Promise<Opened> {
  if (!opened.isNew || provider !== ownProvider) return opened
  const { id } = opened.refund
  const refund = await settleRefund(tx, opened.refund, { kind: 'succeeded', reference: id })
  if (!refund) throw new Error(`refund ${id} not found in the transaction that opened it`)
  return { refund, isNew: false }
}

/** Opens a refund of a ticket, or finds an earlier one, in a transaction that has locked the payment and
 *  the ticket. A refund of what the box office took is settled at once. Makes the first attempt of a new
 *  one while the client waits. If the database is unavailable by then, returns the refund as pending
 *  instead of failing: its row is committed, so a background job settles it and the client must not repeat
 *  the request. Returns the refund's current row. */
export async function startRefund(
  ticket: Pick<LookupTicket, 'id' | 'organizationId' | 'paymentId'>,
  ctx: Context,
  open: (tx: Connection, payment: Payment, ticket: Ticket) => Promise<Opened>,
): Promise<RefundAttempt> {
  const { db, provider } = ctx.services
  const { refund, isNew } = await makeOnce(() =>
    refundTransaction(db, async (tx) => {
      const { organizationId, paymentId } = ticket
      const payment = await lockPayment(tx, { organizationId, id: paymentId })
      return settleByHand(tx, payment, await open(tx, payment, await lockTicket(tx, ticket)))
    }),
  )
  const attempt = async () => (isNew ? requestProviderRefund(db, provider, refund) : refund)
  const current = await attempt().catch((error: unknown) => {
    if (isUnavailable(error)) return refund
    throw error
  })
  ctx.loaders.clear()
  return current
}

/** Reasons for refunds that nobody requested. */
export const automaticReasons = [
  'LATE_NO_CAPACITY',
  'CANCELLED',
  'PAID_TWICE',
  'AMOUNT_MISMATCH',
] as const satisfies RefundAttempt['reason'][]
export type AutomaticReason = (typeof automaticReasons)[number]

/** Charge, or part of one, that pays for no ticket and must be refunded. Amount in minor units. */
export type UnearnedCharge = {
  payment: Pick<Payment, 'organizationId' | 'channelId' | 'mode'>
  charge: Pick<Charge, 'id' | 'paymentId' | 'amount' | 'currency'>
  reason: AutomaticReason
}

/** Queues automatic refunds, in the transaction that decides that the charges pay for no ticket. */
export async function queueRefunds(tx: Connection, unearned: UnearnedCharge[]): Promise<void> {
  if (unearned.length === 0) return
  await tx.insert(refunds).values(
    unearned.map(({ payment: { organizationId, channelId, mode }, charge, reason }) => ({
      id: newId('ref'),
      paymentId: charge.paymentId,
      chargeId: charge.id,
      organizationId,
      channelId,
      mode,
      reason,
      amount: charge.amount,
      currency: charge.currency,
    })),
  )
}
