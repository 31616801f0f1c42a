import { LRUCache } from 'lru-cache'
import type { Authenticated, Caller, Credentials } from '../base/caller.ts'
import type { Database } from '../database/database.ts'
import { invalidatedAt } from '../database/shared-invalidation.ts'

// The same public credentials are refused from another page.
const nameOf = ({ hash, isPublic, origin }: Credentials): string => (isPublic ? `${hash} ${origin}` : hash)

/** Names a caller's view of shared reads: callers with the same view get the same answers. */
export type ViewOf = (caller: Caller) => string

type Entry = { caller: Caller; view: string; since: number; until: number }

const maxBytes = 4 * 2 ** 20
// Bytes of an entry besides its text, which the caller and its view hold.
const overhead = 512

/** Creates a cache of recently authenticated callers for this process, keyed by a hash of the credentials. Only shared
 *  reads that are answered from memory may use this: all else authenticates. An entry is valid for `ms` from the start of
 *  the lookup (0 disables the cache), until the key expires or what is shared is invalidated. Holds at most 4 MB. */
export function createCallerCache(db: Database, ms: number, viewOf: ViewOf) {
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ view }) => 4 * view.length + overhead,
  })
  return {
    /** Returns the caller with these credentials and its view (see `ViewOf`); null if it must be authenticated. */
    find(credentials: Credentials): Entry | null {
      const found = entries.get(nameOf(credentials))
      if (!found) return null
      const now = performance.now()
      const isValid = now - found.since < ms && now < found.until && found.since > invalidatedAt(db)
      return isValid ? found : null
    },
    /** Stores the result of an authentication. */
    remember(credentials: Credentials, { caller, since, until }: Authenticated): void {
      if (ms > 0) entries.set(nameOf(credentials), { caller, view: viewOf(caller), since, until })
    },
  }
}
