const pauseSeconds = 1

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

/** Creates a `fetch` that gives each attempt ten seconds and sends a request again, twice at most: after a
 *  429 or a 503 once `Retry-After` has passed, after a timeout or a lost connection in a second. A checkout
 *  may be repeated because it has an idempotency key. Not for streams, which have no end. */
export function patientFetch(
  fetch: typeof globalThis.fetch = globalThis.fetch,
  { attempts = 3, timeoutMs = 10_000 } = {},
): typeof globalThis.fetch {
  const attempt = async (input: RequestInfo | URL, init: RequestInit | undefined) => {
    const signals = [AbortSignal.timeout(timeoutMs), ...(init?.signal ? [init.signal] : [])]
    const answer = await fetch(input instanceof Request ? input.clone() : input, {
      ...init,
      signal: AbortSignal.any(signals),
    })
    // Read within the time limit: the headers may come and the rest may not.
    const body = await answer.arrayBuffer()
    return new Response(body.byteLength > 0 ? body : null, answer)
  }
  return async (input, init) => {
    for (let left = attempts - 1; left > 0; left--) {
      try {
        const answer = await attempt(input, init)
        if (answer.status !== 429 && answer.status !== 503) return answer
        await pause(Number(answer.headers.get('Retry-After')) || pauseSeconds)
      } catch (error) {
        if (init?.signal?.aborted) throw error
        await pause(pauseSeconds)
      }
    }
    return attempt(input, init)
  }
}
