import { z } from 'zod'
import * as scalars from '../../shared/input-types.ts'

/** A scan at the door: by the ticket's code or by its identifier. */
export const checkInInput = z
  .object({
    qrCode: scalars.qrCode.nullish(),
    ticketId: scalars.identifier.nullish(),
    /** The event at whose door it is scanned. */
    eventId: scalars.identifier.nullish(),
    /** The scanner's own name for the scan. */
    nonce: scalars.text(200),
    direction: z.enum(['in', 'out']),
    /** When it was scanned; now where it is absent. */
    at: z.date().nullish(),
    force: z.boolean(),
  })
  .refine(({ qrCode, ticketId }) => Boolean(qrCode) !== Boolean(ticketId), {
    message: 'give qrCode or ticketId, and not both',
    path: ['qrCode'],
  })
export type CheckInInput = z.output<typeof checkInInput>
