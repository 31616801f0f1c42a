import { setTimeout as pause } from 'node:timers/promises'
import type { Ask } from './http-client.ts'
import type { Round, Side } from './measure.ts'
import type { Pace, Paced } from './pace.ts'
import { type Paying, paymentSide } from './payment-sides.ts'
import { checkoutAsks, listAsk, lookupAsks, type Target } from './requests.ts'
import { type Holds, withHoldCheck } from './sides.ts'
import type { Worker } from './worker.ts'

/** What others ask for while payments are made. */
export const besideKinds = ['ready', 'lookup', 'checkout', 'events'] as const
export type BesideKind = (typeof besideKinds)[number]

/** The requests of each kind: by a door, a channel that sells another rate, and one that lists. */
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

// Of each kind: slow enough to be no load by themselves.
const perSecond = 20

// Payments run for so long before others come, and for at least as long after them.
const aheadSeconds = 1

export type Beside = {
  port: number
  pace: Worker<Pace, Record<string, Paced>>
  kinds: Record<BesideKind, Ask[]>
}

/** What speaks against the answers that others had; null where all of them were good. */
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

/** How long one kind of request takes while nobody pays. All kinds are asked for, one client each. */
export const quietSide = (name: string, beside: Beside, kind: BesideKind): Side =>
  sideOf(name, (seconds) => pacedRound(beside, kind, seconds))

/** The same while many pay. Each payment must be written, or the round counts for nothing. */
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
