import { Refusal } from '../../shared/errors.ts'
import type { Told } from './list-deliveries.ts'

/** A delivery's place in its list, as an opaque text. */
export const toCursor = ({ change }: Told): string => Buffer.from(change.id).toString('base64url')

/** The change whose delivery a cursor tells. Refuses: INVALID, for what is no cursor of ours. */
export function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (!/^chg_\w{26}$/.test(id))
    throw new Refusal({ code: 'INVALID', message: 'after must be a cursor of this list.', path: ['after'] })
  return id
}
