import { sql } from 'drizzle-orm'
import { retryOnDuplicate } from '../../../data/idempotency.ts'
import { inOrganization, query } from '../../../data/query.ts'
import { inSeconds } from '../../../database/clock.ts'
import { type Connection, isUnavailable } from '../../../database/database.ts'
import type { Context } from '../../../request/context.ts'
import { illegalTransition, Refusal, refusal } from '../../../shared/errors.ts'
import { newId } from '../../../shared/ids.ts'
import { toMoney } from '../../../shared/money.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { ownProvider } from '../../payment/provider.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { lockTicket } from '../../ticket/require-ticket.ts'
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

// Finds the charge that paid for the tickets, and adds up the refunds of one of them that have succeeded or
// are pending. Other charges are refunded in full automatically; of this one at most a surplus is.
const findPayingCharge = query<{ id: string; refunded: number }>(
  'paying_charge',
  () => sql`
  select ${charges.id}, (select coalesce(sum(${refunds.amount}), 0)::float8 from ${refunds}
      where ${inOrganization(refunds.organizationId)} and ${refunds.ticketId} = ${sql.placeholder('ticketId')}
        and ${refunds.status} in ('pending', 'succeeded')) as refunded
  from ${charges}
  where ${inOrganization(charges.organizationId)} and ${charges.paymentId} = ${sql.placeholder('paymentId')}
    and not exists (select from ${refunds} where ${inOrganization(refunds.organizationId)}
      and ${refunds.chargeId} = ${charges.id} and ${refunds.ticketId} is null and ${refunds.amount} = ${charges.amount})
  order by ${charges.createdAt}, ${charges.id} limit 1`,
)

// Columns of a refund that say what it is taken from.
const takenFrom = (
  { organizationId, channelId, mode }: Pick<Payment, 'organizationId' | 'channelId' | 'mode'>,
  { id: chargeId, paymentId, currency }: Pick<Charge, 'id' | 'paymentId' | 'currency'>,
) => ({ id: newId('ref'), organizationId, channelId, mode, paymentId, chargeId, currency })

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
  if (!isPaid(ticket)) throw new Refusal(illegalTransition('payment', payment, 'refunded'))
  const { id: ticketId, organizationId, currency } = ticket
  const [charge] = await findPayingCharge(tx, { organizationId, paymentId: payment.id, ticketId })
  const refundable = Math.max(0, ticket.totalAmount - nonRefundable - (charge?.refunded ?? 0))
  const amount = requested ?? refundable
  if (amount === 0 || amount > refundable)
    throw refusal(
      'REFUND_TOO_HIGH',
      refundable === 0 ? 'Nothing is left to refund.' : 'The amount is more than is left to refund.',
      undefined,
      { refundable: toMoney(refundable, currency) },
    )
  if (!charge) throw new Error(`payment ${payment.id} has no charge to refund`)
  const [refund] = await tx
    .insert(refunds)
    .values({
      ...takenFrom(ticket, { id: charge.id, paymentId: payment.id, currency }),
      ticketId,
      amount,
      attempts: 1,
      dueAt: inSeconds(leaseSeconds),
      ...columns,
    })
    .returning()
  if (!refund) throw new Error('the inserted refund was not returned')
  return refund
}

type Opened = { refund: RefundAttempt; isNew: boolean }

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
  const { refund, isNew } = await retryOnDuplicate(() =>
    refundTransaction(db, async (tx) => {
      const { organizationId, paymentId } = ticket
      const payment = await lockPayment(tx, { organizationId, id: paymentId })
      const opened = await open(tx, payment, await lockTicket(tx, ticket))
      if (!opened.isNew || payment.provider !== ownProvider) return opened
      // The organization gives the money back by hand, and no provider ever hears of it.
      const outcome = { kind: 'succeeded', reference: opened.refund.id } as const
      return { refund: await settleRefund(tx, opened.refund, outcome), isNew: false }
    }),
  )
  const attempted = isNew ? requestProviderRefund(db, provider, refund) : Promise.resolve(refund)
  const current = await attempted.catch((error: unknown) => {
    if (isUnavailable(error)) return refund
    throw error
  })
  ctx.loaders.clear()
  return current
}

/** Reasons for refunds that nobody requested. */
export const automaticReasons = [
  'LATE_NO_CAPACITY',
  'PAID_AFTER_CANCELLATION',
  'PAID_TWICE',
  'AMOUNT_MISMATCH',
] as const
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
    unearned.map(({ payment, charge, reason }) => ({
      ...takenFrom(payment, charge),
      reason,
      amount: charge.amount,
    })),
  )
}
