/** Repeats work until it is stopped, waiting `seconds` after the end of each run. Errors go to `onError` and
 *  do not end it. The returned function aborts the signal, and resolves once the current run has finished. */
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
