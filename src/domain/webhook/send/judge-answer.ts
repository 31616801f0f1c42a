import type { Answer } from './post-signed.ts'

const minutes = 60
const hours = 60 * minutes

// Seconds from one try to the next: the schedule of Standard Webhooks, over three days.
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

// A receiver may ask for a pause, and for no longer one than this. Where it doesn't say for how long, for this long.
const longestPause = hours
const usualPause = minutes

/** What follows from an answer for the delivery and for its webhook. */
export type Verdict = {
  status: 'delivered' | 'pending' | 'dead'
  /** Seconds until the next try. */
  again: number
  lastStatus: number | null
  lastError: string | null
  isGone: boolean
  /** Seconds for which nothing is to be sent to the webhook. */
  pause: number
}

function errorOf({ status, error }: Answer): string {
  if (status === null) return error ?? 'FAILED'
  if (status === 410) return 'GONE'
  return status >= 300 && status < 400 ? 'REDIRECT' : 'STATUS'
}

function pauseOf({ status, retryAfter }: Answer): number {
  if (retryAfter !== null) return Math.min(longestPause, retryAfter)
  return status === 429 || status === 502 || status === 504 ? usualPause : 0
}

/** Says what follows from the answer to the so manieth try: 2xx is success and all else is not, 410 ends it, 429, 502,
 *  504 and `Retry-After` slow it down. Up to a tenth later than planned, so that what failed together does not come
 *  back together (Standard Webhooks, operational considerations). */
export function judgeAnswer(answer: Answer, attempts: number): Verdict {
  const { status } = answer
  const isGone = status === 410
  if (status !== null && status >= 200 && status < 300)
    return { status: 'delivered', again: 0, lastStatus: status, lastError: null, isGone, pause: 0 }
  const planned = schedule[attempts - 1]
  const pause = pauseOf(answer)
  return {
    // What a receiver that is gone was to be told waits for it to be enabled.
    status: planned === undefined && !isGone ? 'dead' : 'pending',
    again: Math.max(planned ?? 0, pause) * (1 + Math.random() / 10),
    lastStatus: status,
    lastError: errorOf(answer),
    isGone,
    pause,
  }
}
