const everyMs = 20

/** Watches the event loop. The returned function tells for how long, in milliseconds, a request whose head is read
 *  now may have waited for the process to read it; it is exact to some 20 ms. `stop` ends the watch. */
export function watchEventLoop(): { delay(): number; stop(): void } {
  let dueAt = performance.now() + everyMs
  let late = 0
  const timer = setInterval(() => {
    const now = performance.now()
    late = now - dueAt
    dueAt = now + everyMs
    // After the requests that came while the loop was held up: they are read before immediates run.
    setImmediate(() => {
      late = 0
    })
  }, everyMs).unref()
  return {
    delay: () => Math.max(late, performance.now() - dueAt, 0),
    stop: () => clearInterval(timer),
  }
}
