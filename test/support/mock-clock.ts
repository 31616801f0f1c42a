import { vi } from 'vitest'

/** The clock of `performance.now()`, which a test can put forward instead of waiting. It goes on as well, so bounds are
 *  to be longer than any machine hesitates, unless it `stands` until it is put forward. */
export function mockClock({ isFrozen = false } = {}) {
  const now = performance.now.bind(performance)
  const begun = now()
  let ahead = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (isFrozen ? begun : now()) + ahead)
  return {
    /** Lets so many milliseconds pass at once. */
    advance(ms: number) {
      ahead += ms
    },
    restore: () => clock.mockRestore(),
  }
}
