import { type Database, ownedBy } from '../../../engine/database/database.ts'
import { nameInMode } from '../../caller/idempotency.ts'
import type { ProviderEvent } from '../../payment/provider.ts'
import { refunds } from '../../refund/table.ts'
import { isRefund, refundTransaction, settleRefunds } from '../refund/settle-refund.ts'
import { recordProviderEvents } from './record-charges.ts'
import { settlePayment } from './settle-payment.ts'
import { findPaymentToSettle } from './settlement.ts'

/** Records a provider's event and applies it, in one transaction: so it is applied once, however often it is
 *  delivered. An event that arrives out of order makes only changes that are still allowed (see
 *  settlePayment). Returns `done` if it was applied, `repeated` if it is a duplicate, `unknown` if its payment or refund
 *  does not exist, `ignored` if it concerns neither. */
export async function applyProviderEvent(db: Database, provider: string, received: ProviderEvent) {
  const { id, type, about } = received
  if (!about) return 'ignored'
  const { organizationId } = about
  const event = { provider, id, type }
  if (about.kind === 'refund') {
    const [refund] = await db.select().from(refunds).where(isRefund(about))
    if (!refund) return 'unknown'
    return refundTransaction(ownedBy(db, nameInMode(refund, organizationId)), async (tx) => {
      const recorded = await recordProviderEvents(tx, [{ ...event, organizationId, paymentId: null }])
      if (!recorded.has(id)) return 'repeated'
      await settleRefunds(tx, [{ refund, outcome: about.outcome }])
      return 'done'
    })
  }
  const payment = await findPaymentToSettle(db, organizationId, about.paymentId)
  // A test payment is the sandbox's, which sends no events: no provider can know it.
  if (!payment || payment.mode === 'test') return 'unknown'
  const settlement = { payment, outcome: about.outcome, sessionId: about.id, event }
  const { isRepeated } = await settlePayment(db, settlement)
  return isRepeated ? 'repeated' : 'done'
}
