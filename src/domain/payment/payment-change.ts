import type { NewChange } from '../change/table.ts'
import { paymentChangeBody } from './body.ts'
import type { PaymentOfRate } from './table.ts'

type PaymentChangeType = Extract<NewChange['type'], `payment.${string}`>

/** Builds the change that clients receive about a payment in its current state, without personal data. */
export const paymentChange = (type: PaymentChangeType, payment: PaymentOfRate): NewChange => ({
  type,
  subjectId: payment.id,
  organizationId: payment.organizationId,
  channelId: payment.channelId,
  mode: payment.mode,
  data: {
    ...(payment.mode === 'test' && { test: true }),
    ...paymentChangeBody.of(payment),
  },
})
