import { lookup } from 'node:dns'
import { once } from 'node:events'
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { errorCode } from '../../../shared/errors.ts'
import { isPublicAddress, literalAddress } from './public-address.ts'

// Only the status of a response matters.
const maxAnswerBytes = 64 * 1024

/** Response to a request: a status, or an error code if there was none. `retryAfter` is the pause that the
 *  receiver asks for, in seconds. */
export type Answer = { status: number | null; error: string | null; retryAfter: number | null }

/** `privateWebhooks` allows private addresses, `timeoutSeconds` bounds the exchange, `stopping` aborts it. */
export type PostOptions = { privateWebhooks: boolean; timeoutSeconds: number; stopping: AbortSignal }

const notAllowed = () =>
  Object.assign(new Error('the address is not a public one'), { code: 'ADDRESS_NOT_ALLOWED' })

// The connection uses the very addresses that are checked here, which rules out DNS rebinding.
const publicOnly: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error || !first) callback(error ?? notAllowed(), [])
    else if (!addresses.every(({ address }) => isPublicAddress(address))) callback(notAllowed(), [])
    else if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })

// `Retry-After` holds seconds or a date.
function readRetryAfter({ headers, statusCode = 0 }: IncomingMessage): number | null {
  const value = headers['retry-after']
  if (!value || statusCode < 300) return null
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

/** Posts a JSON body without following redirects, and waits for the whole response. Never throws: a failure
 *  is returned as an error code. */
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
  // A literal address skips the lookup, so it is checked here.
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
    // The signal is needed because a receiver that switches protocols causes neither a response nor an error.
    const answered = once(sent, 'response', { signal })
    // After the response has begun, reading it reports the same error.
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
    return { status: null, error: signal.aborted ? ended : (errorCode(error) ?? 'FAILED'), retryAfter: null }
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', end)
  }
}
