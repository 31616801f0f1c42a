import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Connection, isDuplicate } from '../../../database/database.ts'
import { type Context, requireIntegration } from '../../../request/context.ts'
import { Refusal } from '../../../shared/errors.ts'
import { sha256 } from '../../../shared/ids.ts'
import * as scalars from '../../../shared/input-types.ts'
import { decimalsOf, isAmount, toMinor } from '../../../shared/money.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { lockTicket } from '../../ticket/lock-ticket.ts'
import { requireTicket } from '../../ticket/require-ticket.ts'
import { openRefund } from './open-refund.ts'
import { refundTransaction } from './refund-transaction.ts'
import { requestProviderRefundNow } from './request-provider-refund.ts'

/** Refund of a ticket: an amount in major units, or everything left to refund. */
export const refundInput = z.strictObject({
  ticketId: z.string(),
  amount: z.number().gt(0, 'must be more than 0').nullish(),
  idempotencyKey: scalars.idempotencyKey.nullish(),
})

export type RefundInput = z.output<typeof refundInput>

function toMinorAmount({ amount }: RefundInput, currency: string): number | undefined {
  if (amount === undefined || amount === null) return undefined
  if (!isAmount(amount, currency))
    throw new Refusal({
      code: 'INVALID',
      message: `amount must have at most ${decimalsOf(currency)} decimals, as ${currency} has.`,
      path: ['amount'],
    })
  return toMinor(amount, currency)
}

async function findByKey(
  tx: Connection,
  idempotencyKey: string,
  requestHash: string,
): Promise<RefundAttempt | null> {
  const [refund] = await tx.select().from(refunds).where(eq(refunds.idempotencyKey, idempotencyKey))
  if (!refund) return null
  if (refund.requestHash !== requestHash)
    throw new Refusal({
      code: 'IDEMPOTENCY_KEY_REUSED',
      message: 'This key was already used for another refund.',
      path: ['idempotencyKey'],
    })
  return refund
}

/** Refunds all or part of the amount paid for a ticket of the integration's organization; can be repeated
 *  until nothing is left. Does not cancel the ticket. The same idempotency key and request return the same
 *  refund. The refund is pending unless the provider decides at once. Refuses: NOT_FOUND, INVALID,
 *  ILLEGAL_TRANSITION if the ticket is unpaid, REFUND_TOO_HIGH, IDEMPOTENCY_KEY_REUSED. */
export async function refundTicket(input: RefundInput, ctx: Context): Promise<RefundAttempt> {
  const { integrationId } = requireIntegration(ctx)
  const { db, provider } = ctx.services
  const { id, paymentId, currency } = await requireTicket(input.ticketId, ctx)
  const amount = toMinorAmount(input, currency)
  const key = input.idempotencyKey
    ? {
        idempotencyKey: sha256(JSON.stringify([integrationId, input.idempotencyKey])),
        requestHash: sha256(JSON.stringify([id, amount ?? null])),
      }
    : null
  const open = () =>
    refundTransaction(db, async (tx) => {
      const payment = await lockPayment(tx, paymentId)
      const earlier = key && (await findByKey(tx, key.idempotencyKey, key.requestHash))
      const ticket = await lockTicket(tx, id)
      if (earlier) return { refund: earlier, isNew: false }
      const refund = await openRefund(tx, payment, ticket, { reason: 'REQUESTED', amount, ...key })
      return { refund, isNew: true }
    })
  // Requests for different payments under one key share no lock: only the unique index stops the second,
  // which then finds the first.
  const { refund, isNew } = await open().catch((error: unknown) => {
    if (isDuplicate(error)) return open()
    throw error
  })
  const current = isNew ? await requestProviderRefundNow(db, provider, refund) : refund
  ctx.loaders.clear()
  return current
}
