import { byId } from '../../../engine/base/group-by.ts'
import { readByOrganization } from '../../../engine/data/by-organization.ts'
import { ratesOfPayments } from '../../payment/loaders.ts'
import type { LockedPayment } from '../../payment/lock-payment.ts'
import type { PaymentOutcome, ProviderEvent } from '../../payment/provider.ts'
import type { Charge, Payment, PaymentOfRate } from '../../payment/table.ts'

/** Outcome of a payment, reported by its buyer or its provider. */
export type Settlement = {
  payment: Pick<PaymentOfRate, 'id' | 'organizationId' | 'ticketRateId' | 'mode'>
  outcome: PaymentOutcome
  /** Provider session that had this outcome. */
  sessionId?: string
  /** Provider event that reported it; applied once, however often it is delivered. */
  event?: Pick<ProviderEvent, 'id' | 'type'> & { provider: string }
}

/** Finds what a settlement needs of a payment: whoever reports an outcome may know only its key, but
 *  settlements are batched by organization and by rate. Checks no permissions. */
export const findPaymentToSettle = readByOrganization<Settlement['payment']>(async (db, values) =>
  byId(await ratesOfPayments(db, values)),
)

/** Current status of the payment. `isRepeated` if the event was a duplicate. */
export type SettlementResult = { status: Payment['status']; isRepeated: boolean }

/** Statuses that settlements have changed, by the ids of their payments. */
export type SettledStatuses = Map<string, Payment['status']>

/** Settlement whose payment's row is locked. */
export type LockedSettlement = { settlement: Settlement; payment: LockedPayment }

/** True if the outcome is from the session that the buyer was sent to, or from no session. */
export const isOfCurrentSession = ({ settlement: { sessionId }, payment }: LockedSettlement): boolean =>
  sessionId === undefined || sessionId === payment.sessionId

/** True if the outcome takes effect: every outcome of the buyer's own session, and a charge of another one. */
export const takesEffect = (locked: LockedSettlement): boolean =>
  isOfCurrentSession(locked) || locked.settlement.outcome.kind === 'paid'

/** True for a charge on a payment that has failed or expired: it takes the places again, if they are still
 *  available. */
export const isLate = ({ settlement: { outcome }, payment: { status } }: LockedSettlement): boolean =>
  outcome.kind === 'paid' && (status === 'failed' || status === 'expired')

/** Computes by how many minor units a charge exceeds its payment. Null if it does not pay it: it is too low,
 *  or in another currency. */
export const surplusOf = (
  { totalAmount, currency }: Pick<Payment, 'totalAmount' | 'currency'>,
  money: Pick<Charge, 'amount' | 'currency'>,
): number | null =>
  money.currency === currency && money.amount >= totalAmount ? money.amount - totalAmount : null

/** True if a settlement locks stock in another order than batched ones: a late charge, which takes places
 *  again, or a mismatching one, which releases them. */
export const mustSettleAlone = (locked: LockedSettlement): boolean => {
  const { outcome } = locked.settlement
  return isLate(locked) || (outcome.kind === 'paid' && surplusOf(locked.payment, outcome.money) === null)
}

/** True if the outcome ends the session that reported it. */
export const endsSession = ({ outcome, sessionId }: Settlement): boolean =>
  sessionId !== undefined && outcome.kind !== 'processing'
