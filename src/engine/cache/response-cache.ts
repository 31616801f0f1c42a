import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../base/caller.ts'
import { instruments } from '../base/instruments.ts'
import { createBulkhead } from '../base/turns.ts'
import type { Database } from '../database/database.ts'
import { invalidatedAt } from '../database/shared-invalidation.ts'
import { type Answer, Representation } from '../http/representation.ts'
import { createCallerCache, type ViewOf } from './caller-cache.ts'

export type ResponseCache = ReturnType<typeof createResponseCache>

/** Tells the view of a caller, and adds a caller to the log line of a request. */
type Callers = { viewOf: ViewOf; log(request: FastifyRequest, caller: Caller): void }

type Run = () => Promise<Answer>
type Running = { began: number; outcome: Promise<Representation> }

const maxBytes = 16 * 2 ** 20
// Enough concurrent reads to hide some milliseconds of database latency, few enough to leave connections for
// purchases. A page takes megabytes while it is built: without a limit, pages outlive the young generation
// and cost a quarter more.
const limits = { maxAtOnce: 8, maxOfOwner: 6, maxWaiting: Number.POSITIVE_INFINITY }
// Bytes of an entry besides its body, so that many small entries count too.
const overhead = 1024

const countHit = () => instruments.observer?.onCache('responses', 1, 0)
const countMiss = () => instruments.observer?.onCache('responses', 0, 1)

/** Creates a cache of shared responses for this process, which also coalesces identical reads. `ms` is the
 *  maximum age of a response, counted from the start of its read; 0 disables the cache. `invalidateShared`
 *  empties it. Holds at most 16 MB, all content codings included. */
export function createResponseCache(db: Database, ms: number, { viewOf, log }: Callers) {
  // Bounded by the number of requests that wait for them.
  const running = new Map<string, Running>()
  const entries = new LRUCache<string, Representation>({
    maxSize: maxBytes,
    sizeCalculation: (representation, key) => representation.size() + 2 * key.length + overhead,
    ttl: ms,
  })
  const keyOf = (view: string, request: string) => `${view}\n${request}`
  const callers = createCallerCache(db, ms, viewOf)
  // Callers with the same view are one owner.
  const inTurn = createBulkhead(limits)
  let emptiedAt = invalidatedAt(db)

  // Clearing `running` also keeps reads that began before the invalidation from being stored when they end.
  function dropStaleEntries(): void {
    if (emptiedAt === invalidatedAt(db)) return
    emptiedAt = invalidatedAt(db)
    running.clear()
    entries.clear()
  }

  function start(view: string, key: string, began: number, run: Run): Promise<Representation> {
    const outcome = inTurn(view, run).then((answer) => {
      const representation = new Representation(answer, () => {
        if (entries.peek(key) !== representation) return
        // Deleted first, because the LRU measures the size of a value only when it is new.
        entries.delete(key)
        store()
      })
      const store = () => entries.set(key, representation, { start: began })
      if (answer.isShareable && running.get(key) === read) store()
      return representation
    })
    const read = { began, outcome }
    running.set(key, read)
    return outcome.finally(() => {
      if (running.get(key) === read) running.delete(key)
    })
  }

  const readUncached = async (view: string, run: Run) => new Representation(await inTurn(view, run))

  return {
    /** Returns the cached response to a request without any SQL, and logs its caller; `name` makes what `read` is given
     *  as `request`. Null if there is none, or if the caller was not authenticated within the maximum age. */
    find(request: FastifyRequest, name: () => string): Representation | null {
      const known = callers.find(request.credentials)
      if (known === null) return null
      dropStaleEntries()
      const found = entries.get(keyOf(known.view, name())) ?? null
      if (found) {
        countHit()
        log(request, known.caller)
      }
      return found
    },
    /** Stores an authentication for `find`. Call it for shared reads only. */
    remember: callers.remember,
    /** Answers a shared read. `request` must contain everything that decides the response except the caller
     *  and the data. Reuses the response to an identical read of a caller with the same view, if that read is
     *  still running or began within the maximum age; otherwise calls `run`. A response that is not shareable
     *  goes to its own request only. */
    async read(caller: Caller, request: string, run: Run): Promise<Representation> {
      const view = viewOf(caller)
      if (ms === 0) return readUncached(view, run)
      dropStaleEntries()
      const key = keyOf(view, request)
      const found = entries.get(key)
      if (found) {
        countHit()
        return found
      }
      const now = performance.now()
      const other = running.get(key)
      if (!other || now - other.began >= ms) {
        countMiss()
        return start(view, key, now, run)
      }
      const joined = await other.outcome.catch(() => null)
      if (!joined?.answer.isShareable) {
        countMiss()
        return readUncached(view, run)
      }
      countHit()
      return joined
    },
  }
}
