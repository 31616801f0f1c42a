import type { LockedPayment } from '../../payment/lock-payment.ts'
import type { Outcome, ProviderEvent } from '../../payment/provider.ts'
import type { Payment } from '../../payment/table.ts'
import { surplusOf } from './refuse-mismatch.ts'

/** Word of what becomes of a payment, from its buyer or its provider. */
export type Settlement = {
  payment: Pick<Payment, 'id' | 'ticketRateId'>
  outcome: Outcome
  /** The provider's session that came to it. */
  sessionId?: string
  /** The provider's event that tells it: it has its effect once, however often it is told. */
  event?: Pick<ProviderEvent, 'id' | 'type'> & { provider: string }
}

/** How the payment stands now, and whether the event had been told before. */
export type Settled = { status: Payment['status']; isRepeated: boolean }

/** A settlement under the lock of its payment. */
export type LockedSettlement = { settlement: Settlement; payment: LockedPayment }

/** Whether it comes from the session that the buyer was sent to, or from no session at all. Of another session nothing
 *  counts but the money. */
export const isOwn = ({ settlement: { sessionId }, payment }: LockedSettlement): boolean =>
  sessionId === undefined || sessionId === payment.sessionId

/** Whether money comes for a payment that is over: its places are claimed again, if they are still there. */
export const isLate = ({ settlement: { outcome }, payment: { status } }: LockedSettlement): boolean =>
  outcome.kind === 'paid' && (status === 'failed' || status === 'expired')

/** Whether it takes its counters in another order than those that are settled together: money that claims its places
 *  again, or gives them back because it does not pay. */
export const settlesAlone = (locked: LockedSettlement): boolean => {
  const { outcome } = locked.settlement
  return isLate(locked) || (outcome.kind === 'paid' && surplusOf(locked.payment, outcome.money) === null)
}

/** Whether the session that told it is over with it. */
export const endsSession = ({ outcome, sessionId }: Settlement): boolean =>
  sessionId !== undefined && outcome.kind !== 'processing'
