import { Refusal } from '../../../engine/base/errors.ts'
import { type Context, requireChannel } from '../../caller/context.ts'
import { illegalTransition } from '../../contract/problem-codes.ts'
import { requirePayment } from '../../payment/loaders.ts'
import type { Payment } from '../../payment/table.ts'
import { settlePayment } from './settle-payment.ts'

/** Cancels an unpaid checkout of the channel and frees its places at once. Idempotent: returns a checkout
 *  that is already cancelled unchanged. An overdue one expires instead. Refuses: NOT_FOUND,
 *  ILLEGAL_TRANSITION (DECISIONS, states). */
export async function cancelCheckout(paymentId: string, ctx: Context): Promise<Payment> {
  requireChannel(ctx)
  const { db, loaders } = ctx
  const found = await requirePayment(paymentId, ctx)
  const outcome = { kind: 'ended', status: 'cancelled' } as const
  const { status } = await settlePayment(db, { payment: found, outcome })
  loaders.clear()
  if (status !== 'cancelled')
    throw new Refusal(illegalTransition('payment', { id: found.id, status }, 'cancelled'))
  return requirePayment(paymentId, ctx)
}
