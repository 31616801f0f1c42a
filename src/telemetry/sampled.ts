type Sample<Value> = { at: number; value: Value | null }

/** Reads a value at most once in `everyMs`, one read at a time, for any number of callers. Resolves to null if
 *  the read fails, or takes longer than `timeoutMs`: it then goes on for later callers. */
export function sampled<Value>(
  read: () => Promise<Value>,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): () => Promise<Value | null> {
  let last: Sample<Value> | null = null
  let running: Promise<Value | null> | null = null

  async function readNow(): Promise<Value | null> {
    const at = performance.now()
    const value = await read().catch(() => null)
    last = { at, value }
    running = null
    return value
  }

  return async () => {
    if (last && performance.now() - last.at < everyMs) return last.value
    running ??= readNow()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), timeoutMs).unref()
    })
    return Promise.race([running, late]).finally(() => clearTimeout(timer))
  }
}
