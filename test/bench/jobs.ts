import type { Surface } from './bare-lookups-sql.ts'
import type { Page } from './bare-pages-sql.ts'
import type { HoldTask } from './hold-driver.ts'
import { discountCode } from './hold-statements.ts'
import type { Ask } from './http-client.ts'
import { allTheSame, answerOf, clients, eachWithItsOwn, type JobPlan, jsonOf } from './job-plan.ts'
import type { Load, LoadResult } from './load.ts'
import type { Reach } from './measure.ts'
import {
  checkoutAsks,
  lookupAsks,
  nestedPageAsk,
  pageAsks,
  type Sample,
  type Target,
  ticketListAsk,
} from './requests.ts'
import { disagreement } from './same-answer.ts'
import type { Server } from './server-process.ts'
import { type Holds, holdSide, requestSide, withHoldCheck } from './sides.ts'
import type { Transactions } from './transactions.ts'
import type { Worker } from './worker.ts'

/** Resources of the jobs. */
export type Stage = {
  /** Keys of channels with the same grants, one per client. */
  keys: string[]
  /** An integration's key and tickets of its organization, which nobody has entered with. */
  tickets: { key: string; eventId: string; ids: string[]; currency: string }
  /** The service with default settings, without shared reads, and, started on first use, also without any
   *  cache. */
  gateway: Server
  unshared: Server
  forgetful(): Promise<Server>
  bare: Server
  bytes: Server
  /** Installed and started on first use. */
  mercurius(): Promise<Server>
  load: Worker<Load, LoadResult>
  sample: Sample
  targets: Target[]
  /** Runs the bare hold transaction or the product's own call, and the name of the program that does. */
  hold: { name: string; run(task: HoldTask): Promise<Transactions> }
  countHolds(): Promise<Holds>
  countScans(): Promise<Holds>
  countRefunds(): Promise<Holds>
  /** Reason why holds cannot be compared, or null. */
  holdProblem: string | null
}

type Plan = JobPlan<Stage>

const surfaces: Record<Surface, string> = { rest: 'REST', graphql: 'GraphQL' }
const bareAsk = (path: string): Ask => ({ method: 'GET', path, headers: {} })

const pageJob = (
  page: Page,
  { name, description, reach }: Pick<Plan, 'name' | 'description' | 'reach'>,
  serverOf: (stage: Stage) => Promise<Server> = async ({ unshared }) => unshared,
): Plan => ({
  name,
  description,
  reach,
  async on(stage) {
    const { keys, bare, load, sample } = stage
    const server = await serverOf(stage)
    const ask = (key: string) => pageAsks(key, sample)[page]
    const [key = ''] = keys
    const bareOne = bareAsk(`/pages/${page}`)
    return {
      gateway: requestSide('gateway', server, load, eachWithItsOwn(keys, ask)),
      yardstick: requestSide('json_agg', bare, load, allTheSame(bareOne)),
      disagreement: async () => disagreement(await jsonOf(server, ask(key)), await jsonOf(bare, bareOne)),
    }
  },
})

const mercuriusJob: Plan = {
  name: 'page-graphql-mercurius',
  description: 'nested page, GraphQL, nothing shared',
  reach: { atLeast: 3 },
  async on({ keys, unshared, load, ...stage }) {
    const mercurius = await stage.mercurius()
    const asks = eachWithItsOwn(keys, nestedPageAsk)
    const one = nestedPageAsk(keys[0] ?? '')
    return {
      gateway: requestSide('gateway', unshared, load, asks),
      yardstick: requestSide('Mercurius + JIT', mercurius, load, asks),
      disagreement: async () => disagreement(await jsonOf(unshared, one), await jsonOf(mercurius, one)),
    }
  },
}

const sharedJob = (surface: Surface): Plan => ({
  name: `shared-${surface}`,
  description: `nested page, ${surfaces[surface]}, shared`,
  reach: { atLeast: 0.5 },
  async on({ keys: [key = ''], gateway, bytes, load, sample }) {
    const ask = pageAsks(key, sample)[surface]
    const bytesAsk = bareAsk(`/${surface}`)
    return {
      gateway: requestSide('gateway', gateway, load, allTheSame(ask)),
      yardstick: requestSide('bytes in memory', bytes, load, allTheSame(bytesAsk)),
      async prepare() {
        const { body, type } = await answerOf(gateway, ask)
        await answerOf(bytes, { ...bytesAsk, method: 'PUT', headers: { 'content-type': type }, body })
      },
      disagreement: async () => disagreement(await jsonOf(gateway, ask), await jsonOf(bytes, bytesAsk)),
    }
  },
})

// Number of tickets compared before and after.
const compared = 50

const lookupJob = (surface: Surface, readers: number): Plan => ({
  name: `lookup-${surface}-${readers}`,
  description: `lookup of a ticket, ${surfaces[surface]}`,
  reach: { atLeast: 0.6 },
  async on({ tickets: { key, ids }, gateway, bare, load }) {
    const asks = lookupAsks(key, surface, ids)
    const bareAsks = ids.map((id) => bareAsk(`/tickets/${surface}/${id}`))
    const answers = async (server: Server, all: Ask[]) => ({
      tickets: await Promise.all(all.slice(0, compared).map((ask) => jsonOf(server, ask))),
    })
    return {
      gateway: requestSide('gateway', gateway, load, { clients: readers, asks }),
      yardstick: requestSide('bare driver', bare, load, { clients: readers, asks: bareAsks }),
      disagreement: async () => disagreement(await answers(gateway, asks), await answers(bare, bareAsks)),
    }
  },
})

const ticketListJob = (surface: Surface): Plan => ({
  name: `tickets-${surface}`,
  description: `list of 50 tickets, ${surfaces[surface]}`,
  reach: { atLeast: 0.8 },
  async on({ tickets: { key, ids }, gateway, bare, load }) {
    const ask = ticketListAsk(key, surface)
    const bareOne = bareAsk(`/lists/${surface}/${ids[0]}`)
    return {
      gateway: requestSide('gateway', gateway, load, { clients, asks: [ask] }),
      yardstick: requestSide('json_agg', bare, load, { clients, asks: [bareOne] }),
      disagreement: async () => disagreement(await jsonOf(gateway, ask), await jsonOf(bare, bareOne)),
    }
  },
})

const ratesInWords = { one: 'one rate', many: 'many rates', discount: 'one rate with a discount code' }

// The yardstick of a checkout with a discount has none.
const checkoutJob = (
  rates: keyof typeof ratesInWords,
  surface: Surface,
  buyers: number,
  reach: Reach | null,
): Plan => ({
  name: `checkout-${rates}-${surface}-${buyers}`,
  description: `checkout, ${ratesInWords[rates]}, ${surfaces[surface]}`,
  reach,
  async on({ keys: [key = ''], gateway, load, hold, countHolds, holdProblem, ...stage }) {
    const targets = rates === 'many' ? stage.targets : stage.targets.slice(0, 1)
    const asks = checkoutAsks(key, surface, targets, rates === 'discount' ? discountCode : undefined)
    return {
      gateway: withHoldCheck(requestSide('gateway', gateway, load, { clients: buyers, asks }), countHolds),
      // Enough clients to keep it busy, independent of the gateway's buyers: more would only wait for row
      // locks.
      yardstick: withHoldCheck(
        holdSide(hold.name, hold.run, { clients, targets: targets.length }),
        countHolds,
      ),
      disagreement: async () => holdProblem,
    }
  },
})

/** Holds of a call: about as many as the service holds at once in a flash sale. */
const ofCall = 60

// The wall that a flash sale runs against: what one session of PostgreSQL holds by the same function, call after call,
// while nobody asks, checks or waits. More sessions would wait for the lock of the same counters.
const flashJob = (buyers: number, reach: Reach | null): Plan => ({
  name: `flash-${buyers}`,
  description: 'flash sale: checkout of one rate, REST',
  reach,
  async on({ keys: [key = ''], targets, gateway, load, hold, countHolds, holdProblem }) {
    const asks = checkoutAsks(key, 'rest', targets.slice(0, 1))
    const wall = holdSide(`the wall: \`hold\` by ${hold.name}, ${ofCall} a call`, hold.run, {
      ...{ clients: 1, targets: 1, ofCall },
    })
    return {
      gateway: withHoldCheck(requestSide('gateway', gateway, load, { clients: buyers, asks }), countHolds),
      yardstick: withHoldCheck(wall, countHolds),
      disagreement: async () => holdProblem,
    }
  },
})

const anewJob = (surface: Surface): Plan =>
  pageJob(
    surface,
    {
      name: `anew-${surface}`,
      description: `nested page, ${surfaces[surface]}, nothing remembered`,
      reach: null,
    },
    ({ forgetful }) => forgetful(),
  )

/** Jobs on one catalogue, in order: reads before sales. */
export const plans: Plan[] = [
  mercuriusJob,
  pageJob('graphql', { ...mercuriusJob, name: 'page-graphql', reach: { atLeast: 1 } }),
  pageJob('rest', {
    name: 'page-rest',
    description: 'nested page, REST, nothing shared',
    reach: { atLeast: 1.2 },
  }),
  anewJob('graphql'),
  anewJob('rest'),
  sharedJob('graphql'),
  sharedJob('rest'),
  pageJob('events', { name: 'events', description: '50 events without `populate`, REST', reach: null }),
  pageJob('search', { name: 'search', description: 'a search, REST', reach: null }),
  pageJob('radius', { name: 'radius', description: 'a radius of 25 km, REST', reach: null }),
  lookupJob('graphql', 16),
  lookupJob('graphql', 64),
  lookupJob('rest', 16),
  lookupJob('rest', 64),
  ticketListJob('graphql'),
  ticketListJob('rest'),
  checkoutJob('many', 'rest', 16, { atLeast: 0.8 }),
  checkoutJob('many', 'rest', 64, { atLeast: 0.8 }),
  checkoutJob('many', 'graphql', 16, null),
  checkoutJob('many', 'graphql', 64, null),
  checkoutJob('one', 'rest', 16, null),
  checkoutJob('one', 'rest', 64, { atLeast: 4 }),
  checkoutJob('one', 'graphql', 16, null),
  checkoutJob('one', 'graphql', 64, { atLeast: 2 }),
  flashJob(64, null),
  flashJob(256, { atLeast: 0.4 }),
  checkoutJob('discount', 'rest', 16, null),
  checkoutJob('discount', 'rest', 64, null),
  checkoutJob('discount', 'graphql', 64, null),
]
