import { setTimeout } from 'node:timers/promises'

/** Waits for one piece of work, not longer than some milliseconds. The result is then what `late` returns, or what it
 *  throws, and the work goes on. */
export async function inTime<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  late: () => Late,
): Promise<Result | Late> {
  const done = new AbortController()
  const end = setTimeout(milliseconds, undefined, { signal: done.signal }).then(late)
  try {
    return await Promise.race([work, end])
  } finally {
    done.abort()
  }
}
