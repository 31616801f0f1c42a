import { z } from 'zod'
import * as scalars from '../../../shared/input-types.ts'

const notify = z
  .boolean()
  .nullish()
  .transform((notify) => notify ?? true)
  .describe('False if nobody is to be told by mail. Defaults to true.')

/** Refund of a ticket: an amount in major units, or everything left to refund. */
export const refundInput = z
  .strictObject({
    ticketId: scalars.id.describe('Identifier of the ticket to refund.'),
    amount: z
      .number()
      .gt(0, 'must be more than 0')
      .nullish()
      .describe('Amount in major units, such as 10.5 for €10.50; everything left to refund if omitted.'),
    notify,
    idempotencyKey: scalars.idempotencyKey
      .nullish()
      .describe(
        'Key that makes retries safe: the same key and request return the same refund; the same key with another request is refused.',
      ),
  })
  .describe('Refund of all or part of the amount paid for a ticket.')
export type RefundInput = z.output<typeof refundInput>

/** Return of a ticket under its warranty. */
export const returnInput = z
  .strictObject({ ticketId: scalars.id.describe('Identifier of the ticket to return.'), notify })
  .describe('Ticket to return.')

/** Cancellation of a ticket. */
export const cancellationInput = z
  .strictObject({ ticketId: scalars.id.describe('Identifier of the ticket to cancel.'), notify })
  .describe('Ticket to cancel.')
