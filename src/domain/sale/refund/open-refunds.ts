import { sql } from 'drizzle-orm'
import type { PgInsertValue } from 'drizzle-orm/pg-core'
import pLimit from 'p-limit'
import { Refusal } from '../../../engine/base/errors.ts'
import { toMoney } from '../../../engine/base/money.ts'
import { anyOf, inOrganization, query } from '../../../engine/data/query.ts'
import { inSeconds } from '../../../engine/database/clock.ts'
import { type Connection, isUnavailable } from '../../../engine/database/database.ts'
import type { Context } from '../../caller/context.ts'
import type { Idempotency } from '../../caller/idempotency.ts'
import { newRefundId } from '../../contract/ids.ts'
import { illegalTransition, refusal } from '../../contract/problem-codes.ts'
import { ownProvider } from '../../payment/provider.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { isPaid } from '../../ticket/views.ts'
import type { LockedTickets } from './named-tickets.ts'
import { leaseSeconds, requestProviderRefund } from './request-provider-refund.ts'
import { type DecidedRefund, settleRefunds } from './settle-refund.ts'

// Calls of the provider that a request makes at once.
const maxCalls = 10

/** Refunds to open of tickets of a payment, all or none. `amount` is of one ticket, in minor units; everything left to
 *  refund if omitted. */
export type NewRefunds = LockedTickets & {
  reason: 'REQUESTED' | 'WARRANTY'
  amount?: number | undefined
  key?: Idempotency | null
}

// Finds the charges that paid for the tickets of payments, in a row for each ticket that has refunds which have
// succeeded or are pending. Other charges are refunded in full automatically; of this one at most a surplus is.
const findPayingCharges = query<{ id: string; paymentId: string; ticketId: string | null; refunded: number }>(
  'paying_charges',
  () => sql`
  select paying.id, paying.payment_id as "paymentId", ${refunds.ticketId} as "ticketId",
    coalesce(sum(${refunds.amount}), 0)::float8 as refunded
  from (
    select distinct on (${charges.paymentId}) ${charges.id}, ${charges.paymentId} from ${charges}
    where ${inOrganization(charges.organizationId)} and ${anyOf(charges.paymentId, 'paymentIds')}
      and not exists (select from ${refunds} where ${inOrganization(refunds.organizationId)}
        and ${refunds.chargeId} = ${charges.id} and ${refunds.ticketId} is null and ${refunds.amount} = ${charges.amount})
    order by ${charges.paymentId}, ${charges.createdAt}, ${charges.id}
  ) as paying
  left join ${refunds} on ${inOrganization(refunds.organizationId)}
    and ${refunds.paymentId} = paying.payment_id and ${refunds.ticketId} is not null
    and ${refunds.status} in ('pending', 'succeeded')
  group by paying.id, paying.payment_id, ${refunds.ticketId}`,
)

// Columns of a refund that say what it is taken from.
const takenFrom = (
  { organizationId, channelId, mode }: Pick<Payment, 'organizationId' | 'channelId' | 'mode'>,
  { id: chargeId, paymentId, currency }: Pick<Charge, 'id' | 'paymentId' | 'currency'>,
) => ({ id: newRefundId(paymentId), organizationId, channelId, mode, paymentId, chargeId, currency })

// Lists the tickets with something left to refund, and how much. `refunded` is what was, by ticket.
function refundableOf({ payment, tickets, reason, amount = 0 }: NewRefunds, refunded: Map<string, number>) {
  if (!tickets.every(isPaid)) throw new Refusal(illegalTransition('payment', payment, 'refunded'))
  const open = tickets.flatMap(({ id: ticketId, totalAmount, warrantyAmount }) => {
    const kept = reason === 'WARRANTY' ? warrantyAmount : 0
    const left = totalAmount - kept - (refunded.get(ticketId) ?? 0)
    return left > 0 ? [{ ticketId, left }] : []
  })
  const refundable = open.reduce((sum, { left }) => sum + left, 0)
  if (refundable > 0 && amount <= refundable) return open
  const message =
    refundable === 0 ? 'Nothing is left to refund.' : 'The amount is more than is left to refund.'
  const facts = { refundable: toMoney(refundable, payment.currency) }
  throw refusal('REFUND_TOO_HIGH', message, undefined, facts)
}

/** Reads what was refunded of payments of one organization so far, to refund more. Requires this transaction to hold
 *  the row locks of the payments, then of the tickets, so that all refunds together never exceed the amount paid.
 *  Returns a function that enters refunds of tickets of a payment, of those with something left to refund, and returns
 *  the rows to insert. It refuses: ILLEGAL_TRANSITION if a ticket is unpaid; REFUND_TOO_HIGH. */
export async function openLedger(tx: Connection, organizationId: string, paymentIds: string[]) {
  const found = await findPayingCharges(tx, { organizationId, paymentIds })
  const chargeOf = new Map(found.map(({ paymentId, id }) => [paymentId, id]))
  const refunded = new Map(found.map(({ ticketId, refunded }) => [ticketId ?? '', refunded]))
  return (asked: NewRefunds) => {
    const { payment, reason, amount, key } = asked
    const open = refundableOf(asked, refunded)
    const chargeId = chargeOf.get(payment.id)
    if (!chargeId) throw new Error(`payment ${payment.id} has no charge to refund`)
    return open.map(({ ticketId, left }, index) => {
      refunded.set(ticketId, (refunded.get(ticketId) ?? 0) + (amount ?? left))
      return {
        ...takenFrom(payment, { id: chargeId, paymentId: payment.id, currency: payment.currency }),
        ticketId,
        reason,
        amount: amount ?? left,
        attempts: 1,
        dueAt: inSeconds(leaseSeconds),
        requestHash: key?.requestHash ?? null,
        // Unique, so the others have none.
        idempotencyKey: index === 0 ? (key?.id ?? null) : null,
      }
    })
  }
}

/** Row of a new refund. */
export type NewRefund = ReturnType<Awaited<ReturnType<typeof openLedger>>>[number]

/** Inserts pending refunds. The caller makes the first attempts of those that it has leased at once; a background job
 *  takes over when their lease ends. */
export const insertRefunds = async (tx: Connection, rows: PgInsertValue<typeof refunds>[]) =>
  rows.length > 0 ? tx.insert(refunds).values(rows).returning() : []

/** Settles refunds of what a box office took, in the transaction that opens them: the organization gives the money back
 *  by hand, and no provider ever hears of it. Call it last in a transaction (see `issueInvoices`). Returns the current
 *  rows of all. */
export async function settleByHand(tx: Connection, payments: Map<string, Payment>, opened: RefundAttempt[]) {
  const own = opened.filter(({ paymentId }) => payments.get(paymentId)?.provider === ownProvider)
  const decided = own.map((refund): DecidedRefund => {
    return { refund, outcome: { kind: 'succeeded', reference: refund.id } }
  })
  const settled = await settleRefunds(tx, decided)
  return opened.map((refund) => settled.get(refund.id) ?? refund)
}

/** Refunds of a request: new ones, or those that an earlier request has made. */
export type Opened = { refunds: RefundAttempt[]; isNew: boolean }

/** Makes the first attempt of each new refund while the client waits. If the database is unavailable by then, returns
 *  the refund as pending instead of failing: its row is committed, so a background job settles it and the client must
 *  not repeat the request. Returns the refunds' current rows. */
export async function attemptRefunds({ refunds, isNew }: Opened, ctx: Context): Promise<RefundAttempt[]> {
  const { db, services } = ctx
  const attempt = (refund: RefundAttempt) =>
    requestProviderRefund(db, services.provider, refund).catch((error: unknown) => {
      if (isUnavailable(error) || error instanceof Refusal) return refund
      throw error
    })
  return pLimit(maxCalls)
    .map(refunds, (refund) => (isNew && refund.status === 'pending' ? attempt(refund) : refund))
    .finally(() => ctx.loaders.clear())
}

/** Reasons for refunds that nobody requested. */
export type AutomaticReason = Exclude<RefundAttempt['reason'], NewRefunds['reason']>

/** Charge, or part of one, that pays for no ticket and must be refunded. Amount in minor units. */
export type UnearnedCharge = {
  payment: Pick<Payment, 'organizationId' | 'channelId' | 'mode'>
  charge: Pick<Charge, 'id' | 'paymentId' | 'amount' | 'currency'>
  reason: AutomaticReason
}

/** Queues automatic refunds, in the transaction that decides that the charges pay for no ticket. */
export async function queueRefunds(tx: Connection, unearned: UnearnedCharge[]): Promise<void> {
  const rows = unearned.map(({ payment, charge, reason }) => {
    return { ...takenFrom(payment, charge), reason, amount: charge.amount }
  })
  await insertRefunds(tx, rows)
}
