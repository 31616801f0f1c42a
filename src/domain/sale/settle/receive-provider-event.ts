import type { Database } from '../../../database/database.ts'
import type { ProviderEvent } from '../../payment/provider.ts'
import { refunds } from '../../refund/table.ts'
import { isRefund, refundTransaction, settleRefunds } from '../refund/settle-refund.ts'
import { recordProviderEvents } from './record-reported.ts'
import { settlePayment } from './settle-payment.ts'
import { findPaymentToSettle } from './settlement.ts'

async function receiveRefund(
  db: Database,
  provider: string,
  { id, type }: ProviderEvent,
  about: Extract<ProviderEvent['about'], { kind: 'refund' }>,
) {
  const [refund] = await db.select().from(refunds).where(isRefund(about))
  if (!refund) return 'unknown'
  return refundTransaction(db, async (tx) => {
    const event = { organizationId: refund.organizationId, provider, id, type, paymentId: null }
    if (!(await recordProviderEvents(tx, [event])).has(id)) return 'repeated'
    await settleRefunds(tx, [{ refund, outcome: about.outcome }])
    return 'done'
  })
}

/** Records a provider's event and applies it, in one transaction: so it is applied once, however often it is
 *  delivered. An event that arrives out of order makes only changes that are still allowed (see
 *  settlePayment). Returns `done` if it was applied, `repeated` if it is a duplicate, `unknown` if its payment or refund
 *  does not exist, `ignored` if it concerns neither. */
export async function receiveProviderEvent(db: Database, provider: string, event: ProviderEvent) {
  const { id, type, about } = event
  if (!about) return 'ignored'
  if (about.kind === 'refund') return receiveRefund(db, provider, event, about)
  const payment = await findPaymentToSettle(db, about.organizationId, about.paymentId)
  // A test payment is the sandbox's, which sends no events: no provider can know it.
  if (!payment || payment.mode === 'test') return 'unknown'
  const { isRepeated } = await settlePayment(db, {
    payment,
    outcome: about.outcome,
    sessionId: about.id,
    event: { provider, id, type },
  })
  return isRepeated ? 'repeated' : 'done'
}
