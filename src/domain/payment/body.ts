import { amount, body, oneOf, optionalText, optionalTime, text, texts, time } from '../../engine/rest/body.ts'
import { isTest } from '../caller/mode.ts'
import { changeOf, type NewChange } from '../change/table.ts'
import { exampleIds } from '../contract/ids.ts'
import { type Payment, paymentStatus } from './table.ts'

// JSON bodies of a payment. Amounts are in major units of its currency.

const fields = {
  _id: text('id', 'Payment identifier.', exampleIds.paymentId),
  ticket_rate_id: text('ticketRateId', 'Identifier of the ticket rate.', exampleIds.ticketRateId),
  status: oneOf('status', paymentStatus.enumValues, 'Payment status.', 'paid'),
  expires_at: time(
    'expiresAt',
    'Time when the hold on the tickets of an unpaid payment ends.',
    '2026-11-21T15:15:00.000Z',
  ),
  paid_at: optionalTime('paidAt', 'Time of payment; null if unpaid.', '2026-11-21T15:02:11.000Z'),
  total_amount: amount('totalAmount', 'Amount that the buyer pays, in major units.', 22),
  refunded: amount('refundedAmount', 'Amount refunded so far, in major units.', 0),
  currency: text('currency', 'Currency of the amounts, as an ISO 4217 code.', 'EUR'),
  invoice_reference: optionalText(
    'invoiceReference',
    'Invoice reference; null if there is none.',
    'F2026-000042',
  ),
  created_at: time('createdAt', 'Time of the checkout.', '2026-11-21T15:00:00.000Z'),
  test: isTest('True of a test sale; absent from any other.'),
}

/** Payment that is read back (DECISIONS 119). */
export const paymentBody = body('Payment', 'Payment for one checkout.', fields)

/** Payment in changes, in the feed and in webhooks (DECISIONS, changes). Contains no personal data. */
export const paymentChangeBody = body('PaymentState', 'State of a payment right after a change.', {
  payment_id: { ...fields._id, example: 'pay_01jd8s2w7b6d2f9h5k7n1q4s6v' },
  ticket_rate_ids: texts('ticketRateIds', 'Identifiers of the ticket rates of its tickets.', [
    exampleIds.ticketRateId,
  ]),
  status: fields.status,
  total_amount: amount('totalAmount', 'Amount to be paid, in major units.', 21.6),
  refunded: fields.refunded,
  currency: fields.currency,
})

/** Builds the change that clients receive about a payment in its current state, without personal data. `tickets` are its
 *  own, which say its rates. */
export function paymentChange(
  type: Extract<NewChange['type'], `payment.${string}`>,
  payment: Payment,
  tickets: { ticketRateId: string }[],
): NewChange {
  const ticketRateIds = [...new Set(tickets.map(({ ticketRateId }) => ticketRateId))]
  return changeOf(type, payment, paymentChangeBody.of({ ...payment, ticketRateIds }))
}
