import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import type { Authenticated, Caller } from '../auth/authenticate.ts'
import type { Credentials } from '../auth/known-credentials.ts'
import { catalogueVersion } from '../database/catalogue-version.ts'
import type { Database } from '../database/database.ts'
import { type Answer, type Representation, toRepresentation } from '../http/representation.ts'
import { rememberCallers, viewOf } from './caller-cache.ts'

export type SharedReads = {
  /** The answer that is kept to what `asked` tells, for a sender who was let in less than the bound ago: it costs no
   *  SQL. Null where there is none, or where nobody knows who asks. */
  find(credentials: Credentials, asked: () => string): Representation | null
  /** Remembers for `find` who was let in, to be called for catalogue reads alone. */
  remember(credentials: Credentials, authenticated: Authenticated): void
  /** Answers a catalogue read, which `asked` tells all of but who asks and the database: as an identical read of a
   *  caller who sees the same was answered, if that still runs or began less than the bound ago, else by `run`. What
   *  can't be shared is for its own request alone. */
  read(caller: Caller, asked: string, run: Run): Promise<Representation>
}

type Run = () => Promise<Answer>
type Running = { began: number; outcome: Promise<Representation> }
type Kept = { began: number; representation: Representation }

const maxBytes = 16 * 2 ** 20
// Enough to keep a database busy that is some milliseconds away, and few enough to leave connections to those who buy.
// A page is megabytes while it is made: as many as ask would outgrow the young garbage, and cost a quarter more.
const maxAtOnce = 6
// What an entry costs beside its bytes: else very many small ones would be very much.
const overhead = 1024

/** Shares catalogue reads within a process. `ms` is how old an answer may be, counted from the moment that its read
 *  began; 0 shares nothing. What `touchCatalogue` tells of shows at once. Holds at most 16 MB, in all codings. */
export function createSharedReads(db: Database, ms: number): SharedReads {
  // As many as there are requests that wait for them.
  const running = new Map<string, Running>()
  const kept = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ representation }, key) => representation.size() + 2 * key.length + overhead,
    ttl: ms,
  })
  const keep = (key: string, entry: Kept) => kept.set(key, entry, { start: entry.began })
  const keyOf = (view: string, asked: string) => `${view}\n${asked}`
  const callers = rememberCallers(db, ms)
  const limit = pLimit(maxAtOnce)
  let version = catalogueVersion(db)

  // A read that is not in the map any more when it ends is not kept.
  function forgetWhatChanged(): void {
    if (version === catalogueVersion(db)) return
    version = catalogueVersion(db)
    running.clear()
    kept.clear()
  }

  function start(key: string, began: number, run: Run): Promise<Representation> {
    const outcome = limit(run).then((answer) => {
      const representation = toRepresentation(answer, () => {
        if (kept.peek(key) !== entry) return
        // Set anew, because the size of a value that stays the same stays the same.
        kept.delete(key)
        keep(key, entry)
      })
      const entry = { began, representation }
      if (answer.isShareable && running.get(key) === read) keep(key, entry)
      return representation
    })
    const read = { began, outcome }
    running.set(key, read)
    return outcome.finally(() => {
      if (running.get(key) === read) running.delete(key)
    })
  }

  const alone = async (run: Run) => toRepresentation(await limit(run))

  return {
    find(credentials, asked) {
      const view = callers.find(credentials)
      if (view === null) return null
      forgetWhatChanged()
      return kept.get(keyOf(view, asked()))?.representation ?? null
    },
    remember: callers.remember,
    async read(caller, asked, run) {
      if (ms === 0) return alone(run)
      forgetWhatChanged()
      const key = keyOf(viewOf(caller), asked)
      const found = kept.get(key)
      if (found) return found.representation
      const now = performance.now()
      const other = running.get(key)
      if (!other || now - other.began >= ms) return start(key, now, run)
      const joined = await other.outcome.catch(() => null)
      return joined?.isShareable ? joined : alone(run)
    },
  }
}
