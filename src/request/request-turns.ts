import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { Turns } from '../shared/turns.ts'

// Time for which an owner counts as one that sends little, or much, after a request.
const recentMs = 1_000
// Owners that are known to send much.
const maxOwners = 10_000
// Requests of one owner that wait.
const maxWaiting = 2_000
// Share of the time that the process may have been busy since the last request that waited, before the next one begins,
// and the time after which it begins nevertheless.
const maxBusy = 0.5
const longestPauseMs = 20

const nothing = () => true

/** Turns of requests on the one thread of this process. Requests begin at once, unless their owner sends several in one turn
 *  of the event loop while another sends one at a time: then the first owner's wait. Of those one begins after the other,
 *  owner by owner, or as many as have begun without waiting meanwhile, and the process keeps idle for half of the time. So
 *  what is sent at once keeps another's request waiting for little in each turn of the event loop that this takes. */
export class RequestTurns {
  readonly #turns = new Turns<() => void>({
    ...{ maxAtOnce: Number.POSITIVE_INFINITY, maxOfOwner: Number.POSITIVE_INFINITY, maxWaiting },
    words: 'Too many requests at once. Try again.',
  })
  /** Owners that have begun a request in this turn of the event loop. */
  readonly #begun = new Set<string>()
  /** Requests that have begun without waiting since the last one that waited. */
  #begunSince = 0
  readonly #sendingMuch = new LRUCache<string, number>({ max: maxOwners })
  /** Owner that sent one request at a time, last, and another one before. */
  #sendingLittle = { owner: '', at: Number.NEGATIVE_INFINITY }
  #littleBefore = this.#sendingLittle
  #isRunning = false

  /** Begins a request at its owner's turn. Refuses: BUSY if too many of its owner wait. */
  take(owner: string, begin: () => void): void {
    const now = performance.now()
    const isWaiting = this.#turns.isWaiting(owner)
    if (isWaiting || this.#begun.has(owner)) {
      this.#sendingMuch.set(owner, now)
      const other = this.#sendingLittle.owner === owner ? this.#littleBefore : this.#sendingLittle
      if (isWaiting || now - other.at < recentMs) {
        this.#turns.wait(owner, begin)
        if (!this.#isRunning) void this.#takeTurns()
        return
      }
    } else {
      const muchAt = this.#sendingMuch.get(owner) ?? Number.NEGATIVE_INFINITY
      if (now - muchAt > recentMs) {
        if (this.#sendingLittle.owner !== owner) this.#littleBefore = this.#sendingLittle
        this.#sendingLittle = { owner, at: now }
      }
      if (this.#begun.size === 0) setImmediate(() => this.#begun.clear())
      this.#begun.add(owner)
      this.#begunSince++
    }
    begin()
  }

  async #takeTurns(): Promise<void> {
    this.#isRunning = true
    while (this.#turns.size > 0) {
      const from = performance.eventLoopUtilization()
      let since = from
      do {
        await setTimeout(1)
        since = performance.eventLoopUtilization(from)
      } while (since.utilization > maxBusy && since.active + since.idle < longestPauseMs)
      for (let turn = Math.max(1, this.#begunSince); turn > 0; turn--) {
        const next = this.#turns.next(nothing)
        if (next) this.#turns.end(next.name)
        next?.piece()
      }
      this.#begunSince = 0
    }
    this.#isRunning = false
  }
}
