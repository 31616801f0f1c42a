import { timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { customAlphabet } from 'nanoid'
import { newSecret } from '../../engine/base/ids.ts'
import type { Mode } from './mode.ts'

/** Rights of an integration's key, in the order in which they are shown. A key has all of them where none is
 *  named (DECISIONS, keys). Changes of an attendee need `sales`, because whoever sold a ticket corrects it; cancelling needs
 *  `refunds`, because it takes a ticket back. */
export const integrationScopes = ['tickets:read', 'door', 'refunds', 'sales', 'catalogue'] as const

export type IntegrationScope = (typeof integrationScopes)[number]

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const newPublicId = customAlphabet(base62, 12)
const keyPattern = /^box_(?:pub_)?(live|test)_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/

// Detects mistyped keys without a query. Not a security measure.
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < 6; place++) {
    digits = base62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Creates a key, `box_<live|test>_<public id>_<256-bit secret><checksum>`, and its public id. A publishable
 *  one begins with `box_pub_`, so that people and scanners of leaked secrets can tell it. */
export function newApiKey(mode: Mode, isPublishable = false): { id: string; key: string } {
  const id = newPublicId()
  const body = `box_${isPublishable ? 'pub_' : ''}${mode}_${id}_${newSecret()}`
  return { id, key: body + checksum(body) }
}

/** Parses the facts that a key itself states, which its row must confirm; null if it is malformed. */
export function readApiKey(key: string): { id: string; mode: Mode } | null {
  const [, mode, id, sum] = keyPattern.exec(key) ?? []
  if (!id || checksum(key.slice(0, -6)) !== sum) return null
  return { id, mode: mode as Mode }
}

/** Compares hashes in constant time. Null matches nothing. */
export const isSameHash = (hash: string, stored: string | null): boolean =>
  stored !== null && timingSafeEqual(Buffer.from(hash), Buffer.from(stored))
