import { z } from 'zod'
import type { Problem } from '../../engine/base/errors.ts'
import * as scalars from '../../engine/base/input-types.ts'
import { problemsIn } from '../../engine/base/parse.ts'

/** Ticket of a scan. GraphQL makes it one of the two. */
export const scannedTicket = z
  .object({
    qrCode: scalars.qrCode.optional().describe('Code that was scanned.'),
    ticketId: scalars.identifier.optional().describe('Ticket identifier, where nothing was scanned.'),
  })
  .describe('Ticket at the door or at the bar: the code that was scanned, or an identifier.')

/** Direction of a scan. */
export const direction = z.enum(['in', 'out'])

const scan = {
  eventId: scalars.identifier.describe('Event at this door. Tickets of others are `WRONG_EVENT`.'),
  idempotencyKey: scalars
    .text(200)
    .describe('Key of the scan, chosen by the scanner. A repeated scan returns the first outcome.'),
  direction: direction.default('in').describe('Direction of the scan.'),
  people: scalars.quantity
    .default(1)
    .describe('Number of people who enter or leave together, at least 1: all of them or none.'),
  scannedAt: z
    .date()
    .nullish()
    .describe(
      'Time of the scan, for scans that are uploaded later; now if omitted. Neither in the future nor before the ticket was sold.',
    ),
}

type GivenScan = z.output<z.ZodObject<typeof scan>> & {
  ticket: z.output<typeof scannedTicket>
  force?: boolean
}

// As the verbs name a scan; in one order, because its key goes with the hash of its text.
const toScan = ({ ticket, ...given }: GivenScan) => ({ ...ticket, force: false, ...given })

/** A scan at the door, by the ticket's code or identifier. */
export const checkInInput = z
  .object({
    ticket: scannedTicket.describe('Ticket to check in or out.'),
    ...scan,
    force: z
      .boolean()
      .default(false)
      .describe(
        'Overrides `TOO_EARLY` on the day of the event, from midnight at its venue, and, for people who left without a scan, `NO_ENTRIES_LEFT`: up to as many people as the ticket admits then count as inside.',
      ),
  })
  .transform(toScan)
  .describe('Scan at the door.')
export type CheckInInput = z.output<typeof checkInInput>

/** A scan of a batch, or the reasons why this one is refused. */
export type BatchedScan = CheckInInput | { refused: Problem[] }

/** A scan that a scanner has kept. */
export const uploadedScan = z
  .object({ ticket: scannedTicket.describe('Ticket to check in or out.'), ...scan })
  .transform((given): BatchedScan => toScan(given))
  .describe('Scan that was made while the scanner was offline.')

/** Maximum number of scans that are uploaded together. */
export const maxScans = 200

/** Scans that are uploaded together. One that is not valid is refused by itself, because a camera reads any code
 *  that is held up to it. */
export const checkInBatchInput = z
  .object({
    scans: z
      .array(uploadedScan.catch(({ error }) => ({ refused: problemsIn(error) })))
      .min(1, 'must not be empty')
      .max(maxScans, `must have at most ${maxScans} scans`)
      .describe(`Scans in any order, 1 to ${maxScans}.`),
  })
  .describe('Scans that are uploaded together.')

/** Items of a supplement that are handed out at the bar, by the ticket's code or identifier. */
export const redeemInput = z
  .object({
    ticket: scannedTicket.describe('Ticket that the supplement was bought with.'),
    eventId: scalars.identifier.describe('Event of this bar. Tickets of others are `WRONG_EVENT`.'),
    supplementId: scalars.identifier.describe('Supplement identifier.'),
    count: scalars.quantity
      .default(1)
      .describe('Number of items to redeem, at least 1: all of them or none.'),
    idempotencyKey: scalars
      .text(200)
      .describe('Key of the redemption, chosen by the scanner. A repeated call returns the first outcome.'),
  })
  .transform(({ ticket, count: quantity, ...given }) => ({ ...ticket, ...given, quantity }))
  .describe('Items of a supplement to hand out.')
export type RedeemInput = z.output<typeof redeemInput>
