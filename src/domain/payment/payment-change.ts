import { changeOf, type NewChange } from '../change/table.ts'
import { paymentChangeBody } from './body.ts'
import type { Payment } from './table.ts'

type PaymentChangeType = Extract<NewChange['type'], `payment.${string}`>

/** Builds the change that clients receive about a payment in its current state, without personal data. `tickets` are its
 *  own, at least one, which say its rate. */
export function paymentChange(
  type: PaymentChangeType,
  payment: Payment,
  [first]: { ticketRateId: string }[],
): NewChange {
  if (!first) throw new Error(`payment ${payment.id} has no tickets`)
  return changeOf(type, payment, paymentChangeBody.of({ ...payment, ticketRateId: first.ticketRateId }))
}
