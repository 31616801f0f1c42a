import { Refusal } from '../../shared/errors.ts'
import type { DeliveryWithChange } from './list-deliveries.ts'

/** Opaque cursor of a delivery in its list. */
export const toCursor = ({ change }: DeliveryWithChange): string =>
  Buffer.from(change.id).toString('base64url')

/** Returns the change id that a cursor encodes. Refuses: INVALID, for a text that is not such a cursor. */
export function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (!/^chg_\w{26}$/.test(id))
    throw new Refusal({ code: 'INVALID', message: 'after must be a cursor of this list.', path: ['after'] })
  return id
}
