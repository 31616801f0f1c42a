import { Refusal } from '../errors.ts'
import type { Change } from './table.ts'

/** A change's place in the feed: the transaction that wrote it, then its position. */
export type Place = Pick<Change, 'transactionId' | 'position'>

/** The beginning of the feed. */
export const start: Place = { transactionId: '0', position: 0 }

/** The place as an opaque text. */
export const toCursor = ({ transactionId, position }: Place): string =>
  Buffer.from(`${transactionId} ${position}`).toString('base64url')

/** The place that a cursor tells. Refuses: INVALID, for what is no cursor of ours. */
export function readCursor(cursor: string): Place {
  const match = /^(\d{1,18}) (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match?.[1])
    throw new Refusal({ code: 'INVALID', message: 'after must be a cursor of this feed.', path: ['after'] })
  return { transactionId: match[1], position: Number(match[2]) }
}
