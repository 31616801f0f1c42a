import { lookup } from 'node:dns'
import { once } from 'node:events'
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isPublicAddress, literalAddress } from './public-address.ts'

// What a receiver says besides its status is of no use to anybody.
const maxAnswerBytes = 64 * 1024

/** What came of it: a status, or a code that says why there is none.
 *  `retryAfter`: seconds that the receiver asks for. */
export type Answer = { status: number | null; error: string | null; retryAfter: number | null }

/** How something is sent: where it may go to, how long it may take in all, and until when it is worth while. */
export type PostOptions = { privateWebhooks: boolean; timeoutSeconds: number; stopping: AbortSignal }

const notAllowed = () =>
  Object.assign(new Error('the address is not a public one'), { code: 'ADDRESS_NOT_ALLOWED' })

// The connection is made to the very addresses that were looked at here, so a name can't lead elsewhere in between.
const publicOnly: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error || !first) callback(error ?? notAllowed(), [])
    else if (!addresses.every(({ address }) => isPublicAddress(address))) callback(notAllowed(), [])
    else if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })

// Seconds, or a date.
function readRetryAfter({ headers, statusCode = 0 }: IncomingMessage): number | null {
  const given = headers['retry-after']
  if (!given || statusCode < 300) return null
  const seconds = /^\d{1,9}$/.test(given) ? Number(given) : (Date.parse(given) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'FAILED'

/** Posts a body of JSON, follows no redirect, and waits for the whole answer, of which only the status counts. Never
 *  throws: what goes wrong is the answer. */
export async function postSigned(
  url: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
  { privateWebhooks, timeoutSeconds, stopping }: PostOptions,
): Promise<Answer> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, timeoutSeconds * 1000)
  stopping.addEventListener('abort', end)
  if (stopping.aborted) end()
  const { signal } = ending
  // A name is looked up on the way; an address is not.
  const literal = literalAddress(url)
  try {
    if (!privateWebhooks && literal && !isPublicAddress(literal)) throw notAllowed()
    const request = url.protocol === 'https:' ? overHttps : overHttp
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent: false,
      signal,
      ...(!privateWebhooks && { lookup: publicOnly }),
    })
    // By the signal as well, because a receiver that switches protocols gives neither an answer nor an error.
    const answered = once(sent, 'response', { signal })
    // Once there is an answer, what goes wrong is told by the answer as well.
    sent.on('error', () => {})
    sent.end(body)
    const [answer] = (await answered) as [IncomingMessage]
    let bytes = 0
    for await (const chunk of answer) {
      bytes += chunk.length
      if (bytes > maxAnswerBytes) break
    }
    return { status: answer.statusCode ?? null, error: null, retryAfter: readRetryAfter(answer) }
  } catch (error) {
    const ended = stopping.aborted ? 'STOPPED' : 'TIMEOUT'
    return { status: null, error: signal.aborted ? ended : codeOf(error), retryAfter: null }
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', end)
  }
}
