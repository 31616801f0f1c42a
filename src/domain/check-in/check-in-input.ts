import { z } from 'zod'
import * as scalars from '../../shared/input-types.ts'

/** A scan at the door, by the ticket's code or identifier. */
export const checkInInput = z
  .object({
    qrCode: scalars.qrCode.nullish(),
    ticketId: scalars.identifier.nullish(),
    /** Event at this door. */
    eventId: scalars.identifier.nullish(),
    /** Idempotency key, chosen by the scanner. */
    nonce: scalars.text(200),
    direction: z.enum(['in', 'out']),
    /** Time of the scan; now if absent. */
    at: z.date().nullish(),
    force: z.boolean(),
  })
  .refine(({ qrCode, ticketId }) => Boolean(qrCode) !== Boolean(ticketId), {
    message: 'give qrCode or ticketId, and not both',
    path: ['qrCode'],
  })
export type CheckInInput = z.output<typeof checkInInput>
