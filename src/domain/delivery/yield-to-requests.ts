import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

// How much of the time the process may have other things to do before deliveries stand back, and for how long they do.
const maxBusy = 0.6
const pauseMilliseconds = 200
// Of a shorter time it can't be told.
const leastMilliseconds = 50

let worked = 0

/** Does a part of a delivery that takes the processor, and counts how long that takes. */
export function trackCpu<Result>(work: () => Result): Result {
  const begun = performance.now()
  try {
    return work()
  } finally {
    worked += performance.now() - begun
  }
}

let seen = { loop: performance.eventLoopUtilization(), worked }

/** Stands back for a moment where the process was busy with other things since this was last asked: buyers wait for
 *  their checkouts, and nobody for a mail. */
export async function yieldToRequests(): Promise<void> {
  const loop = performance.eventLoopUtilization()
  const { active, idle } = performance.eventLoopUtilization(loop, seen.loop)
  if (active + idle < leastMilliseconds) return
  const busy = (active - (worked - seen.worked)) / (active + idle)
  seen = { loop, worked }
  if (busy > maxBusy) await setTimeout(pauseMilliseconds)
}
