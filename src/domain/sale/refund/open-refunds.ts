import { sql } from 'drizzle-orm'
import { type Idempotency, retryOnDuplicate } from '../../../data/idempotency.ts'
import { inOrganization, query } from '../../../data/query.ts'
import { inSeconds } from '../../../database/clock.ts'
import { type Connection, isUnavailable } from '../../../database/database.ts'
import type { Context } from '../../../request/context.ts'
import { illegalTransition, Refusal, refusal } from '../../../shared/errors.ts'
import { newRefundId } from '../../../shared/ids.ts'
import { toMoney } from '../../../shared/money.ts'
import { ownProvider } from '../../payment/provider.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import type { Ticket } from '../../ticket/table.ts'
import { isPaid } from '../../ticket/views.ts'
import { leaseSeconds, requestProviderRefund } from './request-provider-refund.ts'
import { refundTransaction, settleRefund } from './settle-refund.ts'
import { lockNamed, type NamedTickets } from './tickets-of.ts'

/** Refunds to open. `amount` is of one ticket, in minor units; everything left to refund if omitted. */
type NewRefunds = {
  reason: 'REQUESTED' | 'WARRANTY'
  amount?: number | undefined
  key?: Idempotency | null
}

// Finds the charge that paid for the tickets of a payment, in a row for each of them that has refunds which have
// succeeded or are pending. Other charges are refunded in full automatically; of this one at most a surplus is.
const findPayingCharge = query<{ id: string; ticketId: string | null; refunded: number }>(
  'paying_charge',
  () => sql`
  select paying.id, ${refunds.ticketId} as "ticketId", coalesce(sum(${refunds.amount}), 0)::float8 as refunded
  from (
    select ${charges.id} from ${charges}
    where ${inOrganization(charges.organizationId)} and ${charges.paymentId} = ${sql.placeholder('paymentId')}
      and not exists (select from ${refunds} where ${inOrganization(refunds.organizationId)}
        and ${refunds.chargeId} = ${charges.id} and ${refunds.ticketId} is null and ${refunds.amount} = ${charges.amount})
    order by ${charges.createdAt}, ${charges.id} limit 1
  ) as paying
  left join ${refunds} on ${inOrganization(refunds.organizationId)}
    and ${refunds.paymentId} = ${sql.placeholder('paymentId')} and ${refunds.ticketId} is not null
    and ${refunds.status} in ('pending', 'succeeded')
  group by paying.id, ${refunds.ticketId}`,
)

// Columns of a refund that say what it is taken from.
const takenFrom = (
  { organizationId, channelId, mode }: Pick<Payment, 'organizationId' | 'channelId' | 'mode'>,
  { id: chargeId, paymentId, currency }: Pick<Charge, 'id' | 'paymentId' | 'currency'>,
) => ({ id: newRefundId(paymentId), organizationId, channelId, mode, paymentId, chargeId, currency })

/** Creates pending refunds of tickets of a payment, of those with something left to refund. The caller makes the first
 *  attempts at once; a background job takes over when their lease ends. Requires this transaction to hold the row
 *  locks of the payment, then of the tickets, so that all refunds together never exceed the amount paid.
 *  Refuses: ILLEGAL_TRANSITION if a ticket is unpaid; REFUND_TOO_HIGH. */
export async function openRefunds(
  tx: Connection,
  payment: Payment,
  tickets: Ticket[],
  { reason, amount: requested, key }: NewRefunds,
): Promise<RefundAttempt[]> {
  if (!tickets.every(isPaid)) throw new Refusal(illegalTransition('payment', payment, 'refunded'))
  const { organizationId, currency, id: paymentId } = payment
  const found = await findPayingCharge(tx, { organizationId, paymentId })
  const open = tickets.flatMap(({ id: ticketId, totalAmount, warrantyAmount }) => {
    const refunded = found.find((row) => row.ticketId === ticketId)?.refunded ?? 0
    const left = totalAmount - (reason === 'WARRANTY' ? warrantyAmount : 0) - refunded
    return left > 0 ? [{ ticketId, left }] : []
  })
  const refundable = open.reduce((sum, { left }) => sum + left, 0)
  if (refundable === 0 || (requested ?? 0) > refundable)
    throw refusal(
      'REFUND_TOO_HIGH',
      refundable === 0 ? 'Nothing is left to refund.' : 'The amount is more than is left to refund.',
      undefined,
      { refundable: toMoney(refundable, currency) },
    )
  const [charge] = found
  if (!charge) throw new Error(`payment ${paymentId} has no charge to refund`)
  const rows = open.map(({ ticketId, left }, index) => ({
    ...takenFrom(payment, { id: charge.id, paymentId, currency }),
    ticketId,
    reason,
    amount: requested ?? left,
    attempts: 1,
    dueAt: inSeconds(leaseSeconds),
    requestHash: key?.requestHash ?? null,
    // Unique, so the others have none.
    idempotencyKey: index === 0 ? (key?.id ?? null) : null,
  }))
  return tx.insert(refunds).values(rows).returning()
}

type Opened = { refunds: RefundAttempt[]; isNew: boolean }

/** Opens refunds of tickets of a payment, or finds earlier ones, in a transaction that has locked the payment and
 *  the tickets. Refunds of what the box office took are settled at once. Makes the first attempt of each new
 *  one while the client waits. If the database is unavailable by then, returns the refund as pending
 *  instead of failing: its row is committed, so a background job settles it and the client must not repeat
 *  the request. Returns the refunds' current rows. */
export async function startRefunds(
  named: NamedTickets,
  ctx: Context,
  open: (tx: Connection, payment: Payment, tickets: Ticket[]) => Promise<Opened>,
): Promise<RefundAttempt[]> {
  const { db, provider } = ctx.services
  const { refunds, isNew } = await retryOnDuplicate(() =>
    refundTransaction(db, async (tx) => {
      const { payment, tickets } = await lockNamed(tx, named)
      const opened = await open(tx, payment, tickets)
      if (!opened.isNew || payment.provider !== ownProvider) return opened
      const settled: RefundAttempt[] = []
      // The organization gives the money back by hand, and no provider ever hears of it.
      for (const refund of opened.refunds)
        settled.push(await settleRefund(tx, refund, { kind: 'succeeded', reference: refund.id }))
      return { refunds: settled, isNew: false }
    }),
  )
  const attempt = (refund: RefundAttempt) =>
    requestProviderRefund(db, provider, refund).catch((error: unknown) => {
      if (isUnavailable(error)) return refund
      throw error
    })
  const current = isNew ? await Promise.all(refunds.map(attempt)) : refunds
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
