import { vi } from 'vitest'

/** Replaces `performance.now()` with a clock that a test can advance instead of waiting. Real time passes as
 *  well, so limits under test must exceed any pause of a busy machine; with `isFrozen`, only `advance` moves
 *  the clock. A frozen clock stands at a whole millisecond: sums of times are exact. */
export function mockClock({ isFrozen = false } = {}) {
  const now = performance.now.bind(performance)
  const begun = Math.floor(now())
  let ahead = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (isFrozen ? begun : now()) + ahead)
  return {
    /** Moves the clock forward by `ms`. */
    advance(ms: number) {
      ahead += ms
    },
    restore: () => clock.mockRestore(),
  }
}
