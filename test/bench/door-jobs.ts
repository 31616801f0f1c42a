import { clients, type JobPlan } from './job-plan.ts'
import type { Stage } from './jobs.ts'
import type { Load, LoadResult } from './load.ts'
import type { Side } from './measure.ts'
import { refundAsk, scanAsk } from './requests.ts'
import type { Server } from './server-process.ts'
import { requestSide, withHoldCheck } from './sides.ts'
import type { Worker } from './worker.ts'

// Jobs of an organization with its tickets, one at a time: at the door, and where money is given back.

// More than are answered, and few enough to be written quickly.
const askedPerSecond = 4_000

/** A side that sends each request once, in order over all rounds. `askOf` makes the one with a number. */
function numberedSide(
  server: Server,
  load: Worker<Load, LoadResult>,
  { clients, askOf }: { clients: number; askOf: (number: number) => Load['asks'][number] },
): Side {
  let sent = 0
  const sending = (asks: Load['asks']) => requestSide('gateway', server, load, { clients, asks, once: true })
  return {
    ...sending([]),
    async run(seconds) {
      const first = sent
      const asks = Array.from({ length: Math.ceil(askedPerSecond * seconds) }, (_, index) =>
        askOf(first + index),
      )
      const round = await sending(asks).run(seconds)
      sent += round.requests
      return round
    },
  }
}

const scanners = 4 * clients
const refunders = 2 * clients

/** Jobs of the door and of refunds, which change the tickets that are looked up. */
export const doorPlans: JobPlan<Stage>[] = [
  {
    name: `check-in-${scanners}`,
    description: 'single scans of tickets of one organization',
    reach: null,
    async on({ tickets: { key, eventId, ids }, gateway, load, countScans, holdProblem }) {
      // Everybody enters, then everybody leaves.
      const askOf = (number: number) => scanAsk(key, { eventId, ids }, number)
      return {
        gateway: withHoldCheck(numberedSide(gateway, load, { clients: scanners, askOf }), countScans),
        yardstick: null,
        disagreement: async () => holdProblem,
      }
    },
  },
  {
    name: `refund-${refunders}`,
    description: 'single refunds of tickets of one organization',
    reach: null,
    async on({ tickets: { key, ids, currency }, gateway, load, countRefunds, holdProblem }) {
      const askOf = (number: number) => refundAsk(key, ids, { number, currency })
      return {
        gateway: withHoldCheck(numberedSide(gateway, load, { clients: refunders, askOf }), countRefunds),
        yardstick: null,
        disagreement: async () => holdProblem,
      }
    },
  },
]
