import type { NewChange } from '../change/table.ts'
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
  return {
    type,
    subjectId: payment.id,
    organizationId: payment.organizationId,
    channelId: payment.channelId,
    mode: payment.mode,
    data: {
      ...(payment.mode === 'test' && { test: true }),
      ...paymentChangeBody.of({ ...payment, ticketRateId: first.ticketRateId }),
    },
  }
}
