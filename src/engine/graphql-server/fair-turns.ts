import { setImmediate, setTimeout } from 'node:timers/promises'
import { nothing, Turns } from '../base/turns.ts'

// Time after which requests have their turn, and the pause that follows in proportion to it: this work takes a sixth
// of the process at most, as the rounds of `live/fan-out.ts` do.
const sliceMs = 4
const pausesPerSlice = 5
// Counts no slice for longer, because one takes longer only if the process was held up: the pause would be five times
// as long as that.
const longestSliceMs = 100

/** Work of which there may be any amount, such as documents of strangers. It has a share of the processor's time, as work
 *  in a bulkhead has of connections, and its owners take turns: one with a thousand pieces keeps no other waiting for all. */
export class FairTurns {
  readonly #turns = new Turns<() => void>({
    maxAtOnce: 1,
    maxOfOwner: 1,
    maxWaiting: Number.POSITIVE_INFINITY,
  })
  #isRunning = false

  /** Number of pieces that wait. */
  get size(): number {
    return this.#turns.size
  }

  /** Runs a piece of work at its owner's turn. */
  async run<Result>(owner: string, work: () => Result): Promise<Awaited<Result>> {
    await new Promise<void>((resolve) => {
      this.#turns.wait(owner, resolve)
      if (!this.#isRunning) void this.#takeTurns()
    })
    return await work()
  }

  async #takeTurns(): Promise<void> {
    this.#isRunning = true
    let start = performance.now()
    const next = () => this.#turns.next(nothing)
    for (let turn = next(); turn; turn = next()) {
      turn.piece()
      this.#turns.end(turn.name)
      // Whatever else the process does meanwhile counts too: a process that is busy does less of this.
      await setImmediate()
      const busyMs = performance.now() - start
      if (busyMs < sliceMs && this.size > 0) continue
      await setTimeout(Math.min(busyMs, longestSliceMs) * pausesPerSlice, undefined, { ref: false })
      start = performance.now()
    }
    this.#isRunning = false
  }
}
