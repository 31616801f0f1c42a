import { and, asc, eq, inArray, isNull, notExists, sql } from 'drizzle-orm'
import { inSeconds } from '../../../data/leased-jobs.ts'
import type { Connection } from '../../../database/database.ts'
import { illegalTransition, Refusal } from '../../../shared/errors.ts'
import { newId } from '../../../shared/ids.ts'
import { toMajor } from '../../../shared/money.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'
import { type Refund, refunds } from '../../refund/table.ts'
import type { Ticket } from '../../ticket/table.ts'
import { isPaid } from '../../ticket/views.ts'
import { leaseSeconds } from './request-provider-refund.ts'

type Wanted = Partial<Pick<Refund, 'idempotencyKey' | 'requestHash'>> & {
  reason: 'REQUESTED' | 'WARRANTY'
  /** Minor units; all that is left where there is none. */
  amount?: number
  /** What is not given back of what was paid, in minor units. */
  kept?: number
}

// The money that pays, as opposed to what came besides and goes back by itself. Of the former a surplus may go back.
async function findPayingCharge(tx: Connection, paymentId: string): Promise<Charge> {
  const goesBack = tx
    .select({ one: sql`1` })
    .from(refunds)
    .where(
      and(eq(refunds.chargeId, charges.id), isNull(refunds.ticketId), eq(refunds.amount, charges.amount)),
    )
  const [charge] = await tx
    .select()
    .from(charges)
    .where(and(eq(charges.paymentId, paymentId), notExists(goesBack)))
    .orderBy(asc(charges.createdAt), asc(charges.id))
    .limit(1)
  if (!charge) throw new Error('what was paid was taken by a provider')
  return charge
}

// What went back for a ticket already, or is on its way.
async function readGone(tx: Connection, ticketId: string): Promise<number> {
  const [gone] = await tx
    .select({ amount: sql<number>`coalesce(sum(${refunds.amount}), 0)::float8` })
    .from(refunds)
    .where(and(eq(refunds.ticketId, ticketId), inArray(refunds.status, ['pending', 'succeeded'])))
  return gone?.amount ?? 0
}

/** Puts money that was paid for a ticket on its way back, and gives that attempt, which the caller makes at once and
 *  others only if it does not. The rows of the payment, then of the ticket, are locked in this transaction, so that all
 *  attempts together never exceed what was paid.
 *  Refuses: ILLEGAL_TRANSITION, where it was not paid; REFUND_TOO_HIGH. */
export async function openRefund(
  tx: Connection,
  payment: Payment,
  ticket: Ticket,
  { amount: asked, kept = 0, ...wanted }: Wanted,
): Promise<Refund> {
  if (!isPaid(ticket)) throw new Refusal(illegalTransition('payment', payment.status, 'refunded'))
  const { currency } = ticket
  const refundable = Math.max(0, ticket.totalAmount - kept - (await readGone(tx, ticket.id)))
  const amount = asked ?? refundable
  if (amount === 0 || amount > refundable)
    throw new Refusal({
      code: 'REFUND_TOO_HIGH',
      message: refundable === 0 ? 'Nothing is left to be refunded.' : 'More than is left to be refunded.',
      facts: { refundable: toMajor(refundable, currency) },
    })
  const [refund] = await tx
    .insert(refunds)
    .values({
      id: newId('ref'),
      paymentId: payment.id,
      chargeId: (await findPayingCharge(tx, payment.id)).id,
      ticketId: ticket.id,
      organizationId: ticket.organizationId,
      channelId: ticket.channelId,
      amount,
      currency,
      attempts: 1,
      dueAt: inSeconds(leaseSeconds),
      ...wanted,
    })
    .returning()
  if (!refund) throw new Error('what is written is given back')
  return refund
}
