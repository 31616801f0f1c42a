import { z } from 'zod'
import { paymentStatus } from './table.ts'

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

export type PaymentChangeBody = z.output<typeof paymentChangeBody>
