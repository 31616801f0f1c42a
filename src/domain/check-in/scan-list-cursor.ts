import { Refusal } from '../../shared/errors.ts'
import { sha256 } from '../../shared/ids.ts'

/** How far a scanner has read the scan list of an event: the feed of changes, and, while it reads the list
 *  itself, the last ticket. */
export type ScanListPosition = { feed: string; lastTicketId: string | null }

const digestLength = 11

// Characters that neither the cursors of the feed nor identifiers contain, and that URLs leave as they are.
const separator = '~'

// Keeps the cursor of one event's list from being taken for that of another, and what was hashed with one salt
// from what is hashed with another.
const digestOf = (salt: string, { feed, lastTicketId }: ScanListPosition): string =>
  Buffer.from(sha256(JSON.stringify([salt, feed, lastTicketId])), 'hex')
    .toString('base64url')
    .slice(0, digestLength)

/** Refusal of a cursor that is not of this list. */
export const unknownCursor = () =>
  new Refusal({
    code: 'CURSOR_UNKNOWN',
    message:
      'since is not a cursor of this scan list: it belongs to another event, caller or database, or names changes that a restore undid. Start again without since.',
    path: ['since'],
  })

/** Encodes a position in the scan list of an event, of which this is the salt, as an opaque cursor. */
export const toScanListCursor = (salt: string, position: ScanListPosition): string =>
  [digestOf(salt, position), position.feed, position.lastTicketId ?? ''].join(separator)

/** Decodes a cursor. The feed verifies its own part. Refuses: CURSOR_UNKNOWN, if it is malformed or of another
 *  event. */
export function readScanListCursor(salt: string, cursor: string): ScanListPosition {
  const [digest, feed = '', lastTicketId = '', ...rest] = cursor.split(separator)
  const position = { feed, lastTicketId: lastTicketId || null }
  if (rest.length > 0 || digest !== digestOf(salt, position)) throw unknownCursor()
  return position
}
