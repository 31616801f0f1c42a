import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { nothing, Turns } from '../base/turns.ts'

// Time for which an owner is minded after its last request.
const recentMs = 1_000
// Requests of one owner that wait.
const maxWaiting = 2_000
// Time of the thread that those who send much have at once, the requests that may begin in it, and the share of the time
// that the thread may have been busy since, before the next ones begin; after the longest pause they begin nevertheless.
const sliceMs = 8
const maxAtOnce = 64
const maxBusy = 0.8
const longestPauseMs = 20

const within = (low: number, value: number, high: number) => Math.min(Math.max(low, value), high)

/** Turns of requests on the one thread of this process. Requests begin at once, unless their owner sends several at a time
 *  while another sends too: then a few of the first owner's begin together, so that their work is joined, and the others
 *  wait, owner by owner, until the thread is idle again. So what is sent at once keeps another's request waiting for little
 *  in each turn of the event loop that this takes. */
export class RequestTurns {
  readonly #turns = new Turns<() => void>({
    maxAtOnce: Number.POSITIVE_INFINITY,
    maxOfOwner: Number.POSITIVE_INFINITY,
    maxWaiting,
    words: 'Too many requests at once. Try again.',
  })
  /** Owners that have begun a request in this turn of the event loop. */
  readonly #begun = new Set<string>()
  /** Last request, and the last one of another owner. */
  #last = { owner: '', at: Number.NEGATIVE_INFINITY }
  #lastOfAnother = this.#last
  /** Requests that take a slice together, as far as was seen; that may still begin in this one; and that have begun in it
   *  one at a time. */
  #size = maxAtOnce / 2
  #left = this.#size
  #begunAlone = 0
  #isRunning = false

  /** Begins a request at its owner's turn. Refuses: BUSY if too many of its owner wait. */
  take(owner: string, begin: () => void): void {
    const isHeldBack = this.#isHeldBack(owner)
    if (isHeldBack && !this.#isRunning) void this.#takeTurns()
    if (!isHeldBack || (this.#left > 0 && !this.#turns.isWaiting(owner))) {
      if (isHeldBack) this.#left--
      begin()
    } else this.#turns.wait(owner, begin)
  }

  #isHeldBack(owner: string): boolean {
    const now = performance.now()
    if (this.#last.owner !== owner) this.#lastOfAnother = this.#last
    this.#last = { owner, at: now }
    if (this.#turns.isWaiting(owner)) return true
    if (this.#begun.has(owner)) return now - this.#lastOfAnother.at < recentMs
    if (this.#begun.size === 0) setImmediate(() => this.#begun.clear())
    this.#begun.add(owner)
    this.#begunAlone++
    return false
  }

  async #takeTurns(): Promise<void> {
    this.#isRunning = true
    let from = performance.eventLoopUtilization()
    let begun = 0
    do {
      let since = from
      do {
        await setTimeout(1)
        since = performance.eventLoopUtilization(from)
      } while (since.utilization > maxBusy && since.active + since.idle < longestPauseMs)
      const change = within(0.5, sliceMs / since.active, 2)
      if (change < 1 || this.#left <= 0) this.#size = within(1, this.#size * change, maxAtOnce)
      const share = Math.max(Math.round(this.#size), this.#begunAlone)
      this.#begunAlone = 0
      from = performance.eventLoopUtilization()
      for (this.#left = share; this.#left > 0; this.#left--) {
        const next = this.#turns.next(nothing)
        if (!next) break
        this.#turns.end(next.name)
        next.piece()
      }
      begun = share - this.#left
    } while (begun > 0)
    this.#isRunning = false
  }
}
