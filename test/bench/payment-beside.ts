import { setTimeout as pause } from 'node:timers/promises'
import type { Ask } from './http-client.ts'
import type { Round, Side } from './measure.ts'
import type { Pace, Paced } from './pace.ts'
import { type Paying, paymentSide } from './payment-sides.ts'
import { checkoutAsks, listAsk, lookupAsks, type Target } from './requests.ts'
import { type Holds, withHoldCheck } from './sides.ts'
import type { Worker } from './worker.ts'

/** Kinds of requests beside payments. */
export const besideKinds = ['ready', 'lookup', 'checkout', 'events'] as const
export type BesideKind = (typeof besideKinds)[number]

/** Requests of each kind: by a door, by a channel that sells another rate, and by one that lists events. */
export const besideAsks = (
  key: string,
  tickets: { key: string; ids: string[] },
  other: Target,
): Record<BesideKind, Ask[]> => ({
  ready: [{ method: 'GET', path: '/ready', headers: {} }],
  lookup: lookupAsks(tickets.key, 'rest', tickets.ids),
  checkout: checkoutAsks(key, 'rest', [other]),
  events: [listAsk(key)],
})

// Rate of each kind, low enough to be no load by itself.
const perSecond = 20

// Payments run for this long before and at least this long after the other requests.
const aheadSeconds = 1

export type Beside = {
  port: number
  pace: Worker<Pace, Record<string, Paced>>
  kinds: Record<BesideKind, Ask[]>
}

/** Returns what is wrong with the responses beside payments, or null. */
export function besideProblem(results: Record<string, Paced>): string | null {
  for (const [kind, { statuses, answers }] of Object.entries(results))
    if (answers === 0 || statuses[200] !== answers)
      return `${kind} is answered with ${JSON.stringify(statuses)}`
  return null
}

async function pacedRound({ port, pace, kinds }: Beside, kind: BesideKind, seconds: number): Promise<Round> {
  const results = await pace.run({ port, seconds, perSecond, kinds })
  const { answers = 0, p50 = Number.NaN, p99 = Number.NaN } = results[kind] ?? {}
  return { requests: answers, seconds, p50, p99, cpuSeconds: null, problem: besideProblem(results) }
}

const sideOf = (name: string, run: (seconds: number) => Promise<Round>): Side => ({
  name,
  clients: 1,
  residentMegabytes: async () => null,
  run,
})

/** Measures one kind of request without payments. All kinds are sent, by one client each. */
export const quietSide = (name: string, beside: Beside, kind: BesideKind): Side =>
  sideOf(name, (seconds) => pacedRound(beside, kind, seconds))

/** Measures the same beside payments. Every payment must be written, or the round is void. */
export const busySide = (
  name: string,
  beside: Beside,
  kind: BesideKind,
  { makeDue, ...payments }: Paying,
  countPaid: () => Promise<Holds>,
): Side =>
  sideOf(name, async (seconds) => {
    const longer = seconds + 2 * aheadSeconds
    const due = await makeDue(longer)
    const payingSide = withHoldCheck(
      paymentSide('payments', { ...payments, makeDue: async () => due }),
      countPaid,
    )
    const [paid, round] = await Promise.all([
      payingSide.run(longer),
      pause(aheadSeconds * 1000).then(() => pacedRound(beside, kind, seconds)),
    ])
    return { ...round, problem: round.problem ?? paid.problem }
  })
