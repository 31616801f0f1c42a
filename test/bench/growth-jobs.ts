import { clients, eachWithItsOwn, type JobPlan, jsonOf } from './job-plan.ts'
import type { Load, LoadResult } from './load.ts'
import { checkoutAsks, nestedPageAsk, type Target } from './requests.ts'
import { disagreement } from './same-answer.ts'
import type { Server } from './server-process.ts'
import { type Holds, requestSide, withDrainCheck, withHoldCheck } from './sides.ts'
import type { Worker } from './worker.ts'

/** Numbers of events and sold tickets, the first of each being the baseline, and the number of queued
 *  deliveries. */
export type Sizes = { events: number[]; tickets: number[]; deliveries: number }

/** A gateway on its own database. */
export type Grown = { gateway: Server; countHolds(): Promise<Holds>; countQueued(): Promise<number> }

/** Resources of the growth jobs: the same catalogue in several sizes and with different numbers of sold
 *  tickets. */
export type GrowthStage = {
  /** Keys of channels with the same grants, one per client. */
  keys: string[]
  load: Worker<Load, LoadResult>
  targets: Target[]
  /** Gateways by number of events, without shared reads, and by number of sold tickets. Started on first use.
   *  */
  withEvents(count: number): Promise<Grown>
  withTickets(count: number): Promise<Grown>
  /** The same, with queued ticket mails. */
  withDeliveries(count: number): Promise<Grown>
  /** Reason why holds cannot be compared, or null. */
  holdProblem: string | null
}

type Plan = JobPlan<GrowthStage>

const inWords = (count: number) => count.toLocaleString('en')

const pageJob = (small: number, large: number): Plan => ({
  name: `growth-page-${large}`,
  description: `nested page, GraphQL, ${inWords(large)} events`,
  reach: { atMost: 1.3 },
  async on({ keys, load, withEvents }) {
    const [yardstick, gateway] = [await withEvents(small), await withEvents(large)]
    const asks = eachWithItsOwn(keys, nestedPageAsk)
    const ask = nestedPageAsk(keys[0] ?? '')
    return {
      gateway: requestSide('gateway', gateway.gateway, load, asks),
      yardstick: requestSide(`itself, ${inWords(small)}`, yardstick.gateway, load, asks),
      // Grown catalogues keep the first page of the small one.
      disagreement: async () =>
        disagreement(await jsonOf(gateway.gateway, ask), await jsonOf(yardstick.gateway, ask)),
    }
  },
})

const checkoutJob = (rates: 'one' | 'many', small: number, large: number): Plan => ({
  name: `growth-checkout-${rates}-${large}`,
  description: `checkout, ${rates === 'one' ? 'one rate' : 'many rates'}, REST, ${inWords(large)} tickets sold`,
  reach: { atMost: 1.2 },
  async on({ keys: [key = ''], load, targets, withTickets, holdProblem }) {
    const [yardstick, gateway] = [await withTickets(small), await withTickets(large)]
    const asks = checkoutAsks(key, 'rest', rates === 'one' ? targets.slice(0, 1) : targets)
    const side = (name: string, { gateway, countHolds }: Grown) =>
      withHoldCheck(requestSide(name, gateway, load, { clients, asks }), countHolds)
    return {
      gateway: side('gateway', gateway),
      yardstick: side(`itself, ${inWords(small)}`, yardstick),
      disagreement: async () => holdProblem,
    }
  },
})

// Mails of earlier sales are sent by the same process that sells.
const backgroundJob = (queued: number): Plan => ({
  name: 'background-checkout-many',
  description: `checkout, many rates, REST, while ${inWords(queued)} deliveries are drained`,
  reach: null,
  async on({ keys: [key = ''], load, targets, withTickets, withDeliveries, holdProblem }) {
    const [yardstick, gateway] = [await withTickets(queued), await withDeliveries(queued)]
    const asks = checkoutAsks(key, 'rest', targets)
    const side = (name: string, { gateway, countHolds }: Grown) =>
      withHoldCheck(requestSide(name, gateway, load, { clients, asks }), countHolds)
    return {
      gateway: withDrainCheck(side('gateway', gateway), gateway.countQueued),
      yardstick: side('itself, none queued', yardstick),
      disagreement: async () => holdProblem,
    }
  },
})

/** Jobs that compare larger catalogues with the smallest, and checkouts beside background work. */
export function growthPlans({ events, tickets, deliveries }: Sizes): Plan[] {
  const [fewEvents = 0, ...moreEvents] = events
  const [fewTickets = 0, ...moreTickets] = tickets
  return [
    ...moreEvents.map((count) => pageJob(fewEvents, count)),
    ...moreTickets.flatMap((count) => [
      checkoutJob('one', fewTickets, count),
      checkoutJob('many', fewTickets, count),
    ]),
    backgroundJob(deliveries),
  ]
}
