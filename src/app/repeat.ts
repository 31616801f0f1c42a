/** Does some work every so many seconds, each time from the end of the last, until it is stopped. What fails is told
 *  of, and done again. Stopping waits for what runs, and tells it so by the signal. */
export function repeat(
  work: (stopping: AbortSignal) => Promise<unknown>,
  seconds: number,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      running = work(stopping.signal).catch(onError).finally(next)
    }, seconds * 1000)
    timer.unref()
  }
  next()
  return async () => {
    stopping.abort()
    clearTimeout(timer)
    await running
  }
}
