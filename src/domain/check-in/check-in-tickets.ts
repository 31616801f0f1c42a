import { busy, type Problem } from '../../engine/base/errors.ts'
import { sha256 } from '../../engine/base/ids.ts'
import { hourMs } from '../../engine/base/timers.ts'
import { joinWrites } from '../../engine/data/join-writes.ts'
import { type Connection, isDuplicate, ownerOf } from '../../engine/database/database.ts'
import { boundedTransactions } from '../../engine/database/transaction.ts'
import { type Context, requireIntegration } from '../caller/context.ts'
import { retryOnDuplicate } from '../caller/idempotency.ts'
import { nameInMode } from '../caller/mode.ts'
import { clockMarginMs } from '../contract/ids.ts'
import { problem } from '../contract/problem-codes.ts'
import type { BatchedScan, CheckInInput } from './check-in-input.ts'
import { findScans, maxAhead } from './find-scans.ts'
import { type BookedScan, type NewCheckIn, openScanBook } from './scan-book.ts'

/** Outcome of one scan: its check-in, which is `replayed` if the key was used before, or the reasons why it was
 *  refused. */
type ScanOutcome = { checkIn: NewCheckIn; replayed: boolean } | { refused: Problem[] }

// Many scanners work at the same time: a bound leaves the other connections to everybody else.
const checkInTransaction = boundedTransactions({ maxAtOnce: 4, maxOfOwner: 2, maxWaiting: 500 })

// Maximum age of a scan that is sent later and matches no ticket. A scan of a ticket is bounded by the ticket's sale.
const maxAge = 366 * 24 * hourMs

// A ticket is scanned after its sale, but a scanner's clock may be up to a day behind.
const isTooOld = (scannedAt: Date, soldAt: Date | undefined, now: Date) =>
  scannedAt.getTime() < (soldAt ? soldAt.getTime() - clockMarginMs : now.getTime() - maxAge)

// Each attempt finds what others have made with its keys meanwhile.
const maxAttempts = 5

const refuse = (code: 'INVALID' | 'IDEMPOTENCY_KEY_REUSED', message: string, field: string): ScanOutcome => ({
  refused: [problem(code, message, [field])],
})
const reused = () => refuse('IDEMPOTENCY_KEY_REUSED', 'This key was used for another scan.', 'idempotencyKey')

/** A scan with its place among those that are decided together, and the time of its request. */
type NumberedScan = { place: number; input: CheckInInput; requestHash: string; scannedAt: Date; now: Date }

/** Books scans of one integration in the order of their times, whatever their order in the request, and writes what
 *  follows from them. Returns their outcomes by place. */
async function bookScans(tx: Connection, scans: NumberedScan[], ctx: Context): Promise<ScanOutcome[]> {
  const { integrationId, organizationIds } = requireIntegration(ctx)
  const [organizationId] = organizationIds
  const inputs = scans.map(({ input }) => input)
  const found = await findScans(tx, inputs, ctx)
  const outcomes: ScanOutcome[] = []

  // The first scan with each key that is new.
  const fresh = new Map<string, NumberedScan & BookedScan>()
  const repeated: NumberedScan[] = []
  for (const scan of scans) {
    const { place, input, requestHash, scannedAt, now } = scan
    const made = found.made.get(input.idempotencyKey)
    const ticket = found.tickets.get(place) ?? null
    if (made)
      outcomes[place] = made.requestHash === requestHash ? { checkIn: made, replayed: true } : reused()
    else if (scannedAt.getTime() > now.getTime() + maxAhead)
      outcomes[place] = refuse('INVALID', 'scannedAt must not be in the future.', 'scannedAt')
    else if (isTooOld(scannedAt, ticket?.createdAt, now))
      outcomes[place] = refuse('INVALID', 'scannedAt must not be before the ticket was sold.', 'scannedAt')
    else if (fresh.has(input.idempotencyKey)) repeated.push(scan)
    else fresh.set(input.idempotencyKey, { ...scan, ticket })
  }

  const inOrder = [...fresh.values()].sort(
    (one, other) => one.scannedAt.getTime() - other.scannedAt.getTime(),
  )
  const by = { organizationId, integrationId, mode: ctx.mode }
  const book = await openScanBook(tx, by, inOrder, ctx.services.admissionHours)
  for (const scan of inOrder) outcomes[scan.place] = { checkIn: book.enter(scan), replayed: false }
  for (const { place, input, requestHash } of repeated) {
    const first = fresh.get(input.idempotencyKey)
    const made = first?.requestHash === requestHash ? outcomes[first.place] : undefined
    outcomes[place] = made && !('refused' in made) ? { ...made, replayed: true } : reused()
  }
  await book.write()
  return outcomes
}

type AskedScan = { input: CheckInInput; ctx: Context }

// Checks in by scans of requests of one integration and mode, in a transaction of their own.
async function checkInAll(asked: AskedScan[]): Promise<ScanOutcome[]> {
  const [first] = asked
  if (!first) return []
  // A key in live mode and the same one in test mode name different requests.
  const scans = asked.map(({ input, ctx }, place) => ({
    place,
    input: { ...input, idempotencyKey: nameInMode(ctx, input.idempotencyKey) },
    requestHash: nameInMode(ctx, sha256(JSON.stringify(input))),
    scannedAt: input.scannedAt ?? ctx.now,
    now: ctx.now,
  }))
  const { ctx } = first
  return retryOnDuplicate(() => checkInTransaction(ctx.db, (tx) => bookScans(tx, scans, ctx)), maxAttempts)
    .catch((error: unknown) => {
      throw isDuplicate(error) ? busy('Other requests keep using the same keys. Try again.') : error
    })
    .finally(() => {
      for (const { ctx } of asked) ctx.loaders.clear()
    })
}

// Single scans of an integration that arrive while others are written are then written together.
const checkInTogether = joinWrites<AskedScan, ScanOutcome>('check-ins', (_, asked) => checkInAll(asked), {
  maxAlone: 4,
  maxOfKey: 2,
  maxWaiting: 500,
  ownerOf: ({ ctx }) => ownerOf(ctx.db),
  words: 'Too many scans at once. Try again.',
})

/** Checks people with tickets of the integration's organization in or out, by up to 200 scans, as a scanner
 *  has kept them while it was offline. Each scan has an outcome of its own, in the order of the request, and
 *  lets in all of its people or none; a refused one stops no other. They are decided in the order of their
 *  times: of two doors that let the same ticket in, the earlier is OK. A result that was once given stands,
 *  so a scan that is uploaded after a later one may be NO_ENTRIES_LEFT; `firstEnteredAt` then tells of that
 *  one. Idempotent by key. Takes one statement of each kind, however many scans.
 *  Refuses: FORBIDDEN for a channel, BUSY (DECISIONS, states; DECISIONS, documented fields). */
export async function checkInTickets(scans: BatchedScan[], ctx: Context): Promise<ScanOutcome[]> {
  const valid = scans.filter((scan): scan is CheckInInput => !('refused' in scan))
  const outcomes = await checkInAll(valid.map((input) => ({ input, ctx })))
  return scans.map((scan, place) => {
    const outcome = 'refused' in scan ? scan : outcomes.shift()
    if (!outcome) throw new Error(`scan ${place} was not decided`)
    if (!('refused' in outcome)) return outcome
    const inBatch = ({ path = [], ...problem }: Problem) =>
      ({ ...problem, path: ['scans', place, ...path] }) as Problem
    return { refused: outcome.refused.map(inBatch) }
  })
}

/** Checks people with a ticket of the integration's organization in or out, all of them or none. Returns a
 *  rejection as a result and not as a refusal, because the scanner must show it. Idempotent by key, whatever
 *  happened to the ticket since. However many scanners work at once, no more people are inside than the ticket
 *  admits. The doors open `admissionHours` before the event, compared with the time of the scan.
 *  Refuses: FORBIDDEN for a channel, INVALID, IDEMPOTENCY_KEY_REUSED, BUSY (DECISIONS, states; DECISIONS, documented fields). */
export function checkInTicket(input: CheckInInput, ctx: Context): Promise<ScanOutcome> {
  const { integrationId } = requireIntegration(ctx)
  return checkInTogether(ctx.db, nameInMode(ctx, integrationId), { input, ctx })
}
