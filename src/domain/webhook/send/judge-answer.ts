import type { Answer } from './post-signed.ts'

const minutes = 60
const hours = 60 * minutes

// Seconds between attempts: the schedule of Standard Webhooks, over three days.
const schedule = [
  5,
  5 * minutes,
  30 * minutes,
  2 * hours,
  5 * hours,
  10 * hours,
  14 * hours,
  20 * hours,
  24 * hours,
]

// Seconds of the pause that a receiver may ask for at most, and of one that names no duration.
const maxPause = hours
const defaultPause = minutes

/** Consequences of a response for the delivery and for its webhook. */
export type Verdict = {
  status: 'delivered' | 'pending' | 'dead'
  /** Seconds until the next attempt. */
  retrySeconds: number
  lastStatus: number | null
  lastError: string | null
  isGone: boolean
  /** Seconds for which the webhook receives nothing. */
  pauseSeconds: number
}

function errorOf({ status, error }: Answer): string {
  if (status === null) return error ?? 'FAILED'
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
  const { status } = answer
  const isGone = status === 410
  if (status !== null && status >= 200 && status < 300)
    return {
      status: 'delivered',
      retrySeconds: 0,
      lastStatus: status,
      lastError: null,
      isGone,
      pauseSeconds: 0,
    }
  const planned = schedule[attempts - 1]
  const pauseSeconds = pauseOf(answer)
  return {
    // Deliveries to a receiver that is gone wait until it is enabled again.
    status: planned === undefined && !isGone ? 'dead' : 'pending',
    retrySeconds: Math.max(planned ?? 0, pauseSeconds) * (1 + Math.random() / 10),
    lastStatus: status,
    lastError: errorOf(answer),
    isGone,
    pauseSeconds,
  }
}
