import { z } from 'zod'
import type { Problem } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { problemsIn } from '../../shared/parse.ts'

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
  eventId: scalars.identifier
    .nullish()
    .describe('Event at this door. Tickets of other events result in `WRONG_EVENT`.'),
  nonce: scalars
    .text(200)
    .describe(
      'Idempotency key of the scan, chosen by the scanner. A repeated scan returns the first result.',
    ),
  direction: direction.default('in').describe('Direction of the scan.'),
  people: scalars.quantity
    .default(1)
    .describe('Number of people who enter or leave together, at least 1: all of them or none.'),
  at: z
    .date()
    .nullish()
    .describe(
      'Time of the scan, for scans that are uploaded later; now if omitted. Neither in the future nor before the ticket was sold.',
    ),
}

/** A scan at the door, by the ticket's code or identifier. */
export const checkInInput = z
  .object({
    ticket: scannedTicket.describe('Ticket to check in or out.'),
    ...scan,
    force: z
      .boolean()
      .default(false)
      .describe(
        'Overrides `TOO_EARLY` on the day of the event, from midnight at its venue, and, for people who left without a scan, `ALREADY_ENTERED`: up to as many people as the ticket admits then count as inside.',
      ),
  })
  .transform(({ ticket, ...scan }) => ({ ...ticket, ...scan }))
  .describe('Scan at the door.')
export type CheckInInput = z.output<typeof checkInInput>

/** A scan of a batch, or the reasons why this one is refused. */
export type BatchedScan = CheckInInput | { refused: Problem[] }

/** A scan that a scanner has kept, as a plain row. */
export const uploadedScan = z
  .object({
    qrCode: scalars.qrCode
      .nullish()
      .describe('Code that was scanned. Required unless `ticketId` is given. Give exactly one of the two.'),
    ticketId: scalars.identifier.nullish().describe('Ticket identifier, for a check-in without a scan.'),
    ...scan,
  })
  .refine(({ qrCode, ticketId }) => Boolean(qrCode) !== Boolean(ticketId), {
    message: 'give qrCode or ticketId, and not both',
    path: ['qrCode'],
  })
  .transform(
    ({ qrCode, ticketId, ...rest }): BatchedScan => ({
      ...(qrCode ? { qrCode } : { ticketId: ticketId ?? '' }),
      ...rest,
      force: false,
    }),
  )
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
    supplementId: scalars.identifier.describe('Supplement identifier.'),
    quantity: scalars.quantity
      .default(1)
      .describe('Number of items to redeem, at least 1: all of them or none.'),
    nonce: scalars
      .text(200)
      .describe(
        'Idempotency key of the redemption, chosen by the scanner. A repeated call returns the first result.',
      ),
  })
  .transform(({ ticket, ...scan }) => ({ ...ticket, ...scan }))
  .describe('Redemption of a supplement of a ticket.')
export type RedeemInput = z.output<typeof redeemInput>
