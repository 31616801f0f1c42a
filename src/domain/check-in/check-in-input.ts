import { z } from 'zod'
import * as scalars from '../../shared/input-types.ts'

/** Ticket of a scan, by its code or its identifier. The GraphQL type makes it one of the two. */
const ticket = z.object({
  qrCode: scalars.qrCode.optional(),
  ticketId: scalars.identifier.optional(),
})

/** A scan at the door, by the ticket's code or identifier. */
export const checkInInput = z
  .object({
    ticket,
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
  .transform(({ ticket, ...scan }) => ({ ...ticket, ...scan }))
export type CheckInInput = z.output<typeof checkInInput>

/** Items of a supplement that are handed out at the bar, by the ticket's code or identifier. */
export const redeemInput = z
  .object({
    ticket,
    supplementId: scalars.identifier,
    /** Number of items, all of them or none. */
    quantity: scalars.quantity,
    /** Idempotency key, chosen by the scanner. */
    nonce: scalars.text(200),
  })
  .transform(({ ticket, ...scan }) => ({ ...ticket, ...scan }))
export type RedeemInput = z.output<typeof redeemInput>
