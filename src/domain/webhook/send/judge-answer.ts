import type { Answer } from './post-signed.ts'

const minutes = (count: number) => count * 60
const hours = (count: number) => count * 3600

// Seconds between attempts: the schedule of Standard Webhooks, over three days.
const schedule = [5, ...[5, 30].map(minutes), ...[2, 5, 10, 14, 20, 24].map(hours)]

// Seconds of the pause that a receiver may ask for at most, and of one that names no duration.
const maxPause = hours(1)
const defaultPause = minutes(1)

/** Consequences of a response for the delivery and for its webhook. */
export type Verdict = {
  status: 'delivered' | 'pending' | 'dead'
  /** Seconds until the next attempt, if any. */
  retrySeconds: number
  lastStatus: number | null
  lastError: string | null
  isGone: boolean
  /** Seconds for which the webhook receives nothing. */
  pauseSeconds: number
}

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
export function judgeAnswer(answer: Answer, attempts: number): Verdict {
  const lastError = errorOf(answer)
  const isGone = answer.status === 410
  const planned = schedule[attempts - 1]
  const pauseSeconds = pauseOf(answer)
  // Deliveries to a receiver that is gone wait until it is enabled again.
  const ifFailed = planned === undefined && !isGone ? 'dead' : 'pending'
  return {
    status: lastError === null ? 'delivered' : ifFailed,
    retrySeconds: Math.max(planned ?? 0, pauseSeconds) * (1 + Math.random() / 10),
    lastStatus: answer.status,
    lastError,
    isGone,
    pauseSeconds,
  }
}
