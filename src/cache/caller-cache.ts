import { LRUCache } from 'lru-cache'
import type { Authenticated, Caller } from '../auth/authenticate.ts'
import { type Credentials, hashCredentials } from '../auth/known-credentials.ts'
import { touchedAt } from '../database/catalogue-version.ts'
import type { Database } from '../database/database.ts'

/** Who was let in lately. For what the catalogue answers from memory, and for nothing else: whoever buys, pays or looks
 *  a ticket up is let in anew. */
export type RememberedCallers = {
  /** What these credentials let their sender see, as `viewOf` says it; null where that must be looked up. */
  find(credentials: Credentials): string | null
  /** Remembers what credentials were found to be. */
  remember(credentials: Credentials, authenticated: Authenticated): void
}

/** What the statements of a catalogue read are given of a caller: its organizations, in order,
 *  and what it may ask for. */
export const viewOf = ({ kind, organizationIds }: Caller): string => `${kind} ${organizationIds.join(' ')}`

type Known = { view: string; since: number; until: number }

const maxBytes = 4 * 2 ** 20
// What an entry costs beside its text.
const overhead = 512

/** Remembers who called within a process, by a hash of the credentials: for `ms` from the moment that the lookup began,
 *  0 for not at all, until the key expires, and until `touchCatalogue` tells of a change. Holds at most 4 MB. */
export function rememberCallers(db: Database, ms: number): RememberedCallers {
  const known = new LRUCache<string, Known>({
    maxSize: maxBytes,
    sizeCalculation: ({ view }) => 2 * view.length + overhead,
  })
  return {
    find(credentials) {
      const found = known.get(hashCredentials(credentials))
      if (!found) return null
      const now = performance.now()
      const isTrue = now - found.since < ms && now < found.until && found.since > touchedAt(db)
      return isTrue ? found.view : null
    },
    remember(credentials, { caller, since, until }) {
      if (ms > 0) known.set(hashCredentials(credentials), { view: viewOf(caller), since, until })
    },
  }
}
