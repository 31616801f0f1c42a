import { Refusal } from '../../shared/errors.ts'
import { sha256 } from '../../shared/ids.ts'
import type { Change } from './table.ts'

/** The last change that a caller was told in each part of its feed, by the number of the part. */
export type Heard = ReadonlyMap<number, Pick<Change, 'id'> & { position: number }>

/** A cursor before it is held against the database: the position up to which each part was told. */
export type ReadCursor = { digest: string; positions: { part: number; position: number }[] }

const digestLength = 11
const digits = /^[0-9a-z]{1,10}$/

// Characters: those of a channel that is told of some 4,000 organizations.
const maxLength = 65_536

const unknown = () =>
  new Refusal({
    code: 'CURSOR_UNKNOWN',
    message:
      'after is no cursor of this feed: it is another caller’s, another database’s, of an earlier version, or of changes that a restore took back. Ask without after: the feed begins again with the oldest, and each change has the id that it had.',
    path: ['after'],
  })

// Names the very changes, so that a cursor of other changes at the same positions is told from one of these.
const digestOf = (feed: string, told: [part: number, { id: string; position: number }][]): string =>
  Buffer.from(
    sha256(JSON.stringify([feed, told.map(([part, { id, position }]) => [part, position, id])])),
    'hex',
  )
    .toString('base64url')
    .slice(0, digestLength)

/** The place of a caller in its feed as an opaque text: some seven characters for each part that it was told something of. */
export function toCursor(feed: string, heard: Heard): string {
  const told = [...heard].sort(([one], [other]) => one - other)
  const numbers = told.flatMap(([part, { position }], index) => [
    part - (told[index - 1]?.[0] ?? 0),
    position,
  ])
  return [digestOf(feed, told), ...numbers.map((number) => number.toString(36))].join('.')
}

/** The positions that a cursor tells. Refuses: CURSOR_UNKNOWN, for what has not the form of one. */
export function readCursor(cursor: string): ReadCursor {
  if (cursor.length > maxLength) throw unknown()
  const [digest = '', ...texts] = cursor.split('.')
  if (digest.length !== digestLength || texts.length % 2 === 1 || !texts.every((text) => digits.test(text)))
    throw unknown()
  const numbers = texts.map((text) => Number.parseInt(text, 36))
  const positions: ReadCursor['positions'] = []
  let part = 0
  for (let index = 0; index < numbers.length; index += 2) {
    part += numbers[index] ?? 0
    positions.push({ part, position: numbers[index + 1] ?? 0 })
  }
  if (!Number.isSafeInteger(part)) throw unknown()
  return { digest, positions }
}

/** The changes that a caller was told up to a cursor, given those that its positions lead to. Refuses: CURSOR_UNKNOWN,
 *  unless they are the ones that it was made of. */
export function verifyCursor(
  { digest, positions }: ReadCursor,
  feed: string,
  found: { part: number; position: number; id: string | null }[],
): Heard {
  const heard = new Map<number, { id: string; position: number }>()
  for (const { part, position, id } of found) if (id !== null) heard.set(part, { id, position })
  const told = [...heard].sort(([one], [other]) => one - other)
  if (told.length !== positions.length || digestOf(feed, told) !== digest) throw unknown()
  return heard
}
