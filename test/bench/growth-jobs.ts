import { clients, eachWithItsOwn, type JobPlan, jsonOf } from './job-plan.ts'
import type { Load, LoadResult } from './load.ts'
import { checkoutAsks, nestedPageAsk, type Target } from './requests.ts'
import { disagreement } from './same-answer.ts'
import type { Server } from './server-process.ts'
import { type Holds, requestSide, withDrainCheck, withHoldCheck } from './sides.ts'
import type { Worker } from './worker.ts'

/** Numbers of events and of sold tickets, of which the first of each is what the others are held against, and of deliveries
 *  that are queued. */
export type Sizes = { events: number[]; tickets: number[]; deliveries: number }

/** A gateway on a database of its own. */
export type Grown = { gateway: Server; countHolds(): Promise<Holds>; countQueued(): Promise<number> }

/** What the jobs work with: the same catalogue in several sizes, and with more and fewer tickets sold. */
export type GrowthStage = {
  /** Keys of channels that see the same, one for each client. */
  keys: string[]
  load: Worker<Load, LoadResult>
  targets: Target[]
  /** By number of events, with shared reads switched off, and by number of sold tickets. Started when first asked for. */
  withEvents(count: number): Promise<Grown>
  withTickets(count: number): Promise<Grown>
  /** The same, with the tickets queued to be mailed. */
  withDeliveries(count: number): Promise<Grown>
  /** Why no hold can be compared; null where nothing is in the way. */
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
    const one = nestedPageAsk(keys[0] ?? '')
    return {
      gateway: requestSide('gateway', gateway.gateway, load, asks),
      yardstick: requestSide(`itself, ${inWords(small)}`, yardstick.gateway, load, asks),
      // The large catalogue is made so that its first page is the small one's.
      disagreement: async () =>
        disagreement(await jsonOf(gateway.gateway, one), await jsonOf(yardstick.gateway, one)),
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

// What was sold before is delivered by the very process that sells.
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

/** What is measured on catalogues of several sizes, each against the smallest, and with other work to do. */
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
