/** Replaces `performance.now()` with a clock that a test can advance instead of waiting. Real time passes as
 *  well, so limits under test must exceed any pause of a busy machine; with `isFrozen`, only `advance` moves
 *  the clock. A frozen clock stands at a whole millisecond: sums of times are exact. Calls are not recorded, as a
 *  spy would: whatever waits for a frozen clock would fill the memory with them. */
export function mockClock({ isFrozen = false } = {}) {
  const real = performance.now
  const now = real.bind(performance)
  const begun = Math.floor(now())
  let ahead = 0
  performance.now = () => (isFrozen ? begun : now()) + ahead
  return {
    /** Moves the clock forward by `ms`. */
    advance(ms: number) {
      ahead += ms
    },
    restore() {
      performance.now = real
    },
  }
}
