import { sha256 } from '../../engine/base/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import type { Change } from './table.ts'

/** Last change that a caller has read in each part of its feed, by part number. */
export type ReadPositions = ReadonlyMap<number, Pick<Change, 'id'> & { position: number }>

/** Decoded cursor, not yet verified against the database: the last position read in each part. */
type DecodedCursor = { digest: string; positions: { part: number; position: number }[] }

const digestLength = 11
const digits = /^[0-9a-z]{1,10}$/

// Maximum number of characters, enough for a channel with some 4,000 organizations.
const maxLength = 65_536

const unknown = () =>
  refusal(
    'CURSOR_UNKNOWN',
    'from.after is not a cursor of this feed: it belongs to another caller or database, comes from an earlier version, names changes that a restore undid, or is so old that changes after it are not kept any more. Start again from the oldest change that is kept; every change keeps its id.',
    ['from', 'after'],
  )

const inOrder = (read: ReadPositions) => [...read].sort(([a], [b]) => a - b)

/** Digest by which a cursor verifies what it was made of. */
export const toDigest = (named: unknown[]): string =>
  Buffer.from(sha256(JSON.stringify(named)), 'hex')
    .toString('base64url')
    .slice(0, digestLength)

// Includes the change ids, to detect a cursor of other changes at the same positions.
const digestOf = (feed: string, read: ReadPositions): string =>
  toDigest([feed, inOrder(read).map(([part, { id, position }]) => [part, position, id])])

/** Encodes read positions as an opaque cursor, some seven characters per part. */
export function toCursor(feed: string, read: ReadPositions): string {
  const numbers = inOrder(read).flatMap(([part, { position }], index, last) => [
    part - (last[index - 1]?.[0] ?? 0),
    position,
  ])
  return [digestOf(feed, read), ...numbers.map((number) => number.toString(36))].join('.')
}

/** Decodes a cursor. Refuses: CURSOR_UNKNOWN, if it is malformed. */
export function readCursor(cursor: string): DecodedCursor {
  if (cursor.length > maxLength) throw unknown()
  const [digest = '', ...texts] = cursor.split('.')
  if (digest.length !== digestLength || texts.length % 2 === 1 || !texts.every((text) => digits.test(text)))
    throw unknown()
  const numbers = texts.map((text) => Number.parseInt(text, 36))
  const positions: DecodedCursor['positions'] = []
  let part = 0
  for (let index = 0; index < numbers.length; index += 2) {
    part += numbers[index] ?? 0
    positions.push({ part, position: numbers[index + 1] ?? 0 })
  }
  if (!Number.isSafeInteger(part)) throw unknown()
  return { digest, positions }
}

/** Verifies a cursor against the changes found at its positions, and returns them. Refuses: CURSOR_UNKNOWN,
 *  unless they are the changes that the cursor was made from. */
export function verifyCursor(
  { digest, positions }: DecodedCursor,
  feed: string,
  found: { part: number; position: number; id: string | null }[],
): ReadPositions {
  const read = new Map<number, { id: string; position: number }>()
  for (const { part, position, id } of found) if (id !== null) read.set(part, { id, position })
  if (read.size !== positions.length || digestOf(feed, read) !== digest) throw unknown()
  return read
}
