import type { Page } from './bare-pages-sql.ts'
import type { HoldResult, HoldTask } from './hold-driver.ts'
import type { Ask } from './http-client.ts'
import type { Load, LoadResult } from './load.ts'
import type { Job } from './measure.ts'
import { checkoutAsks, type Target } from './requests.ts'
import { disagreement } from './same-answer.ts'
import { type Server, usageOf } from './server-process.ts'
import { asked, counted, type Holds, holding } from './sides.ts'
import type { Worker } from './worker.ts'

/** What the jobs work with. */
export type Stage = {
  apiKey: string
  gateway: Server
  barePages: Server
  load: Worker<Load, LoadResult>
  pages: Record<Page, Ask>
  targets: Target[]
  /** The bare hold transaction, and what does it. */
  hold: { name: string; run(task: HoldTask): Promise<HoldResult> }
  countHolds(): Promise<Holds>
  /** Why no hold can be compared; null where nothing is in the way. */
  holdProblem: string | null
}

// Enough to keep two processors busy. The bare hold runs with as many, however many buyers the gateway has: more would
// only wait for each other's rows.
const clients = 16

async function answerOf({ port }: Server, { method, path, headers, body }: Ask): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body })
  return response.json()
}

type JobPlan = {
  name: string
  description: string
  /** The two sides, once there is something to work with. */
  on(stage: Stage): Pick<Job, 'gateway' | 'yardstick' | 'disagreement'>
}

const pageJob = (page: Page, name: string, description: string): JobPlan => ({
  name,
  description,
  on({ gateway, barePages, load, pages }) {
    const bare: Ask = { method: 'GET', path: `/${page}`, headers: {} }
    return {
      gateway: asked('gateway', gateway, load, { clients, asks: [pages[page]] }),
      yardstick: asked('json_agg', barePages, load, { clients, asks: [bare] }),
      disagreement: async () =>
        disagreement(await answerOf(gateway, pages[page]), await answerOf(barePages, bare)),
    }
  },
})

const surfaces = { rest: 'REST', graphql: 'GraphQL' }

const checkoutJob = (rates: 'one' | 'many', surface: keyof typeof surfaces, buyers: number): JobPlan => ({
  name: `checkout-${rates}-${surface}-${buyers}`,
  description: `checkout of one ticket, ${rates} rate${rates === 'one' ? '' : 's'}, ${surfaces[surface]}, ${buyers} clients`,
  on({ apiKey, gateway, load, hold, countHolds, holdProblem, ...stage }) {
    const targets = rates === 'one' ? stage.targets.slice(0, 1) : stage.targets
    const asks = checkoutAsks(apiKey, surface, targets)
    return {
      gateway: counted(asked('gateway', gateway, load, { clients: buyers, asks }), countHolds),
      yardstick: counted(holding(hold.name, hold.run, { clients, targets: targets.length }), countHolds),
      disagreement: async () => holdProblem,
    }
  },
})

const plans: JobPlan[] = [
  pageJob('graphql', 'page-graphql', '50 events with everything nested, GraphQL'),
  pageJob('rest', 'page-rest', '50 events with populate=*, REST'),
  pageJob('events', 'events', '50 events without populate, REST'),
  pageJob('search', 'search', 'events with a word in their name, REST'),
  pageJob('radius', 'radius', 'events within 25 km, REST'),
  ...(['many', 'one'] as const).flatMap((rates) =>
    (['rest', 'graphql'] as const).flatMap((surface) =>
      [16, 64].map((buyers) => checkoutJob(rates, surface, buyers)),
    ),
  ),
]

/** What is to be measured, in order: what reads before what sells. `only` is a part of a job's name. */
export function chooseJobs(only: string): ((stage: Stage) => Job)[] {
  const chosen = plans.filter(({ name }) => name.includes(only))
  if (chosen.length === 0)
    throw new Error(`no job has ${only} in its name: ${plans.map(({ name }) => name).join(', ')}`)
  return chosen.map(({ on, ...named }) => (stage) => ({
    ...named,
    ...on(stage),
    residentMegabytes: async () => (await usageOf(stage.gateway.pid))?.residentMegabytes ?? null,
  }))
}
