import { z } from 'zod'
import * as scalars from '../../shared/input-types.ts'

const scanned = {
  qrCode: scalars.qrCode.nullish(),
  ticketId: scalars.identifier.nullish(),
}

type Scanned = { qrCode?: string | null | undefined; ticketId?: string | null | undefined }
const namesOneTicket = ({ qrCode, ticketId }: Scanned) => Boolean(qrCode) !== Boolean(ticketId)
const oneTicket = { message: 'give qrCode or ticketId, and not both', path: ['qrCode'] }

/** A scan at the door, by the ticket's code or identifier. */
export const checkInInput = z
  .object({
    ...scanned,
    /** Event at this door. */
    eventId: scalars.identifier.nullish(),
    /** Idempotency key, chosen by the scanner. */
    nonce: scalars.text(200),
    direction: z.enum(['in', 'out']),
    /** Number of people who enter or leave together. */
    people: scalars.quantity,
    /** Time of the scan; now if absent. */
    at: z.date().nullish(),
    force: z.boolean(),
  })
  .refine(namesOneTicket, oneTicket)
export type CheckInInput = z.output<typeof checkInInput>

/** Items of a supplement that are handed out at the bar, by the ticket's code or identifier. */
export const redeemInput = z
  .object({
    ...scanned,
    supplementId: scalars.identifier,
    /** Number of items, all of them or none. */
    quantity: scalars.quantity,
    /** Idempotency key, chosen by the scanner. */
    nonce: scalars.text(200),
  })
  .refine(namesOneTicket, oneTicket)
export type RedeemInput = z.output<typeof redeemInput>
