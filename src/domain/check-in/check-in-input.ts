import { z } from 'zod'
import { type Problem, Refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'

/** Ticket of a scan, by its code or its identifier. The GraphQL type makes it one of the two. */
const ticket = z.object({
  qrCode: scalars.qrCode.optional(),
  ticketId: scalars.identifier.optional(),
})

const scan = {
  /** Event at this door. */
  eventId: scalars.identifier.nullish(),
  /** Idempotency key, chosen by the scanner. */
  nonce: scalars.text(200),
  direction: z.enum(['in', 'out']),
  /** Number of people who enter or leave together. */
  people: scalars.quantity,
  /** Time of the scan; now if absent. */
  at: z.date().nullish(),
}

/** A scan at the door, by the ticket's code or identifier. */
export const checkInInput = z
  .object({ ticket, ...scan, force: z.boolean() })
  .transform(({ ticket, ...scan }) => ({ ...ticket, ...scan }))
export type CheckInInput = z.output<typeof checkInInput>

// A scanner keeps its scans as plain rows.
const uploadedScan = z
  .object({ qrCode: scalars.qrCode.nullish(), ticketId: scalars.identifier.nullish(), ...scan })
  .refine(({ qrCode, ticketId }) => Boolean(qrCode) !== Boolean(ticketId), {
    message: 'give qrCode or ticketId, and not both',
    path: ['qrCode'],
  })
  .transform(
    ({ qrCode, ticketId, ...rest }): CheckInInput => ({
      ...(qrCode ? { qrCode } : { ticketId: ticketId ?? '' }),
      ...rest,
      force: false,
    }),
  )

/** Maximum number of scans that are uploaded together. */
export const maxScans = 200

const scanList = z.object({
  scans: z
    .array(z.record(z.string(), z.unknown()))
    .min(1, 'must not be empty')
    .max(maxScans, `must have at most ${maxScans} scans`),
})

/** A scan of a batch, or the reasons why this one is refused. */
export type BatchedScan = CheckInInput | { refused: Problem[] }

/** Adds the place of a scan in its batch to the path of a problem. */
export const inBatch = (problem: Problem, place: number): Problem => ({
  ...problem,
  path: ['scans', place, ...(problem.path ?? [])],
})

function parseScan(scan: Record<string, unknown>, place: number): BatchedScan {
  try {
    return scalars.parse(uploadedScan, scan)
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.problems.map((each) => inBatch(each, place)) }
    throw error
  }
}

/** Parses scans that are uploaded together. A scan that is not valid is refused by itself, because a camera
 *  reads any code that is held up to it. Refuses: INVALID, for no scans or too many. */
export const parseBatch = (input: unknown): BatchedScan[] =>
  scalars.parse(scanList, input).scans.map(parseScan)

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
