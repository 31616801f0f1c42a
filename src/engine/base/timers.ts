import { setTimeout as pause } from 'node:timers/promises'

/** An hour in milliseconds. */
export const hourMs = 3_600_000

/** Repeats work until it is stopped, waiting `pauseMs` before each run, or `firstMs` before the first. Errors go to
 *  `onError` and do not end it. The returned function aborts the signal, and resolves once the current run has
 *  finished. */
export function repeat(
  work: (stopping: AbortSignal) => Promise<unknown>,
  { pauseMs, firstMs = pauseMs }: { pauseMs: number; firstMs?: number },
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  async function run(): Promise<void> {
    for (let ms = firstMs; !signal.aborted; ms = pauseMs) {
      // Rejects if it is stopped meanwhile.
      await pause(ms, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) await work(signal).catch(onError)
    }
  }
  const running = run()
  return () => {
    stopping.abort()
    return running
  }
}

/** Waits for work, but not longer than some milliseconds. The result is then what `late` returns, or what it throws, and
 *  the work goes on. */
export async function withTimeout<Result, Late>(ms: number, work: Promise<Result>, late: () => Late) {
  const done = new AbortController()
  const end = pause(ms, undefined, { signal: done.signal }).then(late)
  try {
    return await Promise.race([work, end])
  } finally {
    done.abort()
  }
}
