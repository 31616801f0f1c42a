import { LRUCache } from 'lru-cache'
import type { Credentials } from '../base/caller.ts'
import { type Database, perDatabase } from '../database/database.ts'

// Hashes of credentials that were valid at their last authentication. Only rate limits use this: every caller
// is still authenticated.
const maxKnown = 20_000
const knownOf = perDatabase(() => new LRUCache<string, true>({ max: maxKnown }))

/** Reports whether credentials with this hash were valid when this process last authenticated them. */
export const isRememberedValid = (db: Database, hash: string): boolean => knownOf(db).get(hash) === true

/** Records the result of an authentication for `isRememberedValid`. */
export function rememberValidity(db: Database, { hash }: Credentials, isValid: boolean): void {
  if (isValid) knownOf(db).set(hash, true)
  else knownOf(db).delete(hash)
}
