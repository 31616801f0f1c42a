import { lookup } from 'node:dns'
import { once } from 'node:events'
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { errorCode } from '../../../engine/base/errors.ts'
import type { WebhookDelivery } from '../../change/table.ts'
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

/** Posts a JSON body without following redirects, and waits for the whole response, unless it is stopped meanwhile. Never
 *  throws: a failure is returned as an error code. */
export async function postSigned(
  url: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
  { privateWebhooks, timeoutSeconds, stopping }: PostOptions,
): Promise<Answer> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, timeoutSeconds * 1000)
  stopping.addEventListener('abort', end)
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

const minutes = (count: number) => count * 60
const hours = (count: number) => count * 3600

// Seconds between attempts: the schedule of Standard Webhooks, over three days.
const schedule = [5, ...[5, 30].map(minutes), ...[2, 5, 10, 14, 20, 24].map(hours)]

// Longest pause that a receiver may ask for, and the pause for one that names no duration.
const maxPause = hours(1)
const defaultPause = minutes(1)

/** Consequences of a response for the delivery and for its webhook. */
export type Verdict = ReturnType<typeof judgeAnswer>

// Null for a success.
function errorOf({ status, error }: Answer): string | null {
  if (status === null) return error ?? 'FAILED'
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'GONE'
  return status >= 300 && status < 400 ? 'REDIRECT' : 'STATUS'
}

function pauseOf({ status, retryAfter }: Answer): number {
  if (retryAfter !== null) return Math.min(maxPause, retryAfter)
  return status === 429 || status === 502 || status === 504 ? defaultPause : 0
}

/** Decides what follows from the response to an attempt. 2xx is success, 410 disables the webhook, and 429,
 *  502, 504 and `Retry-After` pause it. Retries have up to 10 % jitter, so that deliveries which failed
 *  together spread out (Standard Webhooks, operational considerations). */
export function judgeAnswer(answer: Answer, attempts: number) {
  const lastError = errorOf(answer)
  const planned = schedule[attempts - 1]
  const pauseSeconds = pauseOf(answer)
  // Deliveries to a receiver that is gone wait until it is enabled again.
  const ifFailed = planned === undefined && lastError !== 'GONE' ? 'dead' : 'pending'
  const status: WebhookDelivery['status'] = lastError === null ? 'delivered' : ifFailed
  return {
    status,
    /** Seconds until the next attempt, if any. */
    retrySeconds: Math.max(planned ?? 0, pauseSeconds) * (1 + Math.random() / 10),
    lastStatus: answer.status,
    /** `GONE` disables the webhook. */
    lastError,
    /** Seconds for which the webhook receives nothing. */
    pauseSeconds,
  }
}
