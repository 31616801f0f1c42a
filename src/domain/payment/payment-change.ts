import { z } from 'zod'
import { toMajor } from '../../shared/money.ts'
import type { NewChange } from '../change/table.ts'
import { type Payment, paymentStatus } from './table.ts'

/** JSON shape of a payment in changes, in the feed and in webhooks (DECISIONS 7). */
export const paymentChangeBody = z
  .object({
    payment_id: z.string().describe('Payment identifier.'),
    ticket_rate_id: z.string().describe('Identifier of the ticket rate.'),
    status: z.enum(paymentStatus.enumValues).describe('Payment status.'),
    total_amount: z.number().describe('Amount to be paid, in major units.'),
    refunded: z.number().describe('Amount refunded so far, in major units.'),
    currency: z.string().describe('Currency of the amounts, as an ISO 4217 code.'),
  })
  .meta({ id: 'PaymentState', description: 'State of a payment right after a change.' })

type PaymentChangeBody = z.output<typeof paymentChangeBody>

type PaymentChangeType = Extract<NewChange['type'], `payment.${string}`>

/** Builds the change that clients receive about a payment in its current state, without personal data. */
export const paymentChange = (type: PaymentChangeType, payment: Payment): NewChange => ({
  type,
  subjectId: payment.id,
  organizationId: payment.organizationId,
  channelId: payment.channelId,
  mode: payment.mode,
  data: {
    ...(payment.mode === 'test' && { test: true }),
    payment_id: payment.id,
    ticket_rate_id: payment.ticketRateId,
    status: payment.status,
    total_amount: toMajor(payment.totalAmount, payment.currency),
    refunded: toMajor(payment.refundedAmount, payment.currency),
    currency: payment.currency,
  } satisfies PaymentChangeBody,
})
