import { hash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { customAlphabet } from 'nanoid'
import { newSecret } from '../shared/ids.ts'

export type KeyMode = 'live' | 'test'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const newPublicId = customAlphabet(base62, 12)
const keyPattern = /^box_(live|test)_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/

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

/** Creates a key, `box_<live|test>_<public id>_<256-bit secret><checksum>`, and its public id. */
export function newKey(mode: KeyMode): { id: string; key: string } {
  const id = newPublicId()
  const body = `box_${mode}_${id}_${newSecret()}`
  return { id, key: body + checksum(body) }
}

/** Parses the public id and mode of a key; null if it is malformed. */
export function readKey(key: string): { id: string; mode: KeyMode } | null {
  const match = keyPattern.exec(key)
  if (!match || checksum(key.slice(0, -6)) !== match[3]) return null
  const [, mode, id] = match
  return id && (mode === 'live' || mode === 'test') ? { id, mode } : null
}

export const hashSecret = (secret: string): string => hash('sha256', secret)

/** Compares hashes in constant time. Null matches nothing. */
export const isSameHash = (hash: string, stored: string | null): boolean =>
  stored !== null && timingSafeEqual(Buffer.from(hash), Buffer.from(stored))
