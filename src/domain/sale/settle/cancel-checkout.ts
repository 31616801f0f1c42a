import { type Context, requireChannel } from '../../../request/context.ts'
import { illegalTransition, Refusal } from '../../../shared/errors.ts'
import { paymentById } from '../../payment/loaders.ts'
import type { Payment } from '../../payment/table.ts'
import { settlePayment } from './settle-payment.ts'

const paymentNotFound = () =>
  new Refusal({ code: 'NOT_FOUND', message: 'There is no such payment.', path: ['paymentId'] })

/** Cancels an unpaid checkout of the channel and frees its places at once. Idempotent: returns a checkout
 *  that is already cancelled unchanged. An overdue one expires instead. Refuses: NOT_FOUND,
 *  ILLEGAL_TRANSITION (DECISIONS 5). */
export async function cancelCheckout(paymentId: string, ctx: Context): Promise<Payment> {
  requireChannel(ctx)
  const { db, loaders } = ctx
  const found = await loaders.load(paymentById, paymentId)
  if (!found) throw paymentNotFound()
  const outcome = { kind: 'ended', status: 'cancelled' } as const
  const { status } = await settlePayment(db, { payment: found, outcome })
  loaders.clear()
  if (status !== 'cancelled') throw new Refusal(illegalTransition('payment', status, 'cancelled'))
  const cancelled = await loaders.loadBeside(paymentById, found.id, found)
  if (!cancelled) throw paymentNotFound()
  return cancelled
}
