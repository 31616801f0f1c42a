import type { TypedDocumentString } from './documents.ts'
import { root } from './dom.ts'
import { hasText, text } from './texts.ts'

// Requests to the gateway: one GraphQL endpoint, and a publishable key, which a page may show.

const endpoint = '/graphql'
const timeoutMs = 20_000
const attempts = 3

/** Headers of every request. */
export const headersOf = (accept: string): Record<string, string> => ({
  'content-type': 'application/json',
  'x-api-key': root.dataset.key ?? '',
  accept,
})

/** Reason for a refusal, as GraphQL tells it. */
export type Problem = { code: string; message: string; path?: string | null } & Record<string, unknown>

/** Request that was answered by errors alone. Its message is for buyers. */
class RequestError extends Error {
  readonly code: string

  constructor(code: string) {
    super(text(hasText(`error.${code}`) ? `error.${code}` : 'error.other'))
    this.code = code
  }
}

/** Explains a problem in the language of the page: by its code and facts, else in the gateway's words. */
export function explain({ code, message, ...facts }: Problem): string {
  const values = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, String(value)]))
  return hasText(`error.${code}`)
    ? text(`error.${code}`, { ...values, count: Number(facts.available) })
    : message
}

/** Waits, and ends early by an error if the signal is aborted. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', stop, { once: true })
  })

type Answer<Data> = { data?: Data | null; errors?: { extensions?: { code?: string } }[] }

async function send<Data>(body: string): Promise<Answer<Data> & { retryMs: number | null }> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: headersOf('application/json'),
    body,
    signal: AbortSignal.timeout(timeoutMs),
  })
  const seconds = response.headers.get('retry-after')
  return { ...((await response.json()) as Answer<Data>), retryMs: seconds ? Number(seconds) * 1000 : null }
}

/** Sends an operation and returns its data. Repeats it where the gateway says when, or cannot be reached: a
 *  query changes nothing, and a checkout has an idempotency key. Throws RequestError. */
export async function ask<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const body = JSON.stringify({ query: document, variables })
  for (let attempt = 1; ; attempt++) {
    const answer = await send<Data>(body).catch(() => null)
    if (answer?.data && !answer.errors) return answer.data
    const mayRetry = !answer || answer.retryMs !== null
    if (!mayRetry || attempt === attempts)
      throw new RequestError(answer?.errors?.[0]?.extensions?.code ?? 'UNREACHABLE')
    await pause(answer?.retryMs ?? 500 * attempt)
  }
}
