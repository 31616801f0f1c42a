/** Does some work every so many seconds, each time from the end of the last, until it is stopped. What fails is told of,
 *  and done again. Stopping waits for what runs. */
export function repeat(
  work: () => Promise<unknown>,
  seconds: number,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false
  let running: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    if (stopped) return
    timer = setTimeout(() => {
      running = work().catch(onError).finally(next)
    }, seconds * 1000)
    timer.unref()
  }
  next()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}
