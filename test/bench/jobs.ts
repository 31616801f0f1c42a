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

// Enough to keep two processors busy, and what pgbench does the bare hold of one row fastest with.
const clients = 16

async function answerOf({ port }: Server, { method, path, headers, body }: Ask): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body })
  return response.json()
}

const residentMegabytes = async ({ gateway }: Stage) =>
  (await usageOf(gateway.pid))?.residentMegabytes ?? null

function pageJob(stage: Stage, page: Page, name: string, description: string): Job {
  const bare: Ask = { method: 'GET', path: `/${page}`, headers: {} }
  const { gateway, barePages, load, pages } = stage
  return {
    name,
    description,
    gateway: asked('gateway', gateway, load, { clients, asks: [pages[page]] }),
    yardstick: asked('json_agg', barePages, load, { clients, asks: [bare] }),
    disagreement: async () =>
      disagreement(await answerOf(gateway, pages[page]), await answerOf(barePages, bare)),
    residentMegabytes: () => residentMegabytes(stage),
  }
}

function checkoutJob(
  stage: Stage,
  surface: 'rest' | 'graphql',
  { rates, clients: buyers }: { rates: 'one' | 'many'; clients: number },
): Job {
  const targets = rates === 'one' ? stage.targets.slice(0, 1) : stage.targets
  const { gateway, load, hold, countHolds } = stage
  const asks = checkoutAsks(stage.apiKey, surface, targets)
  return {
    name: `checkout-${rates}-${surface}-${buyers}`,
    description: `checkout of one ticket, ${rates === 'one' ? 'one rate' : `${targets.length} rates`}, ${surface === 'rest' ? 'REST' : 'GraphQL'}`,
    gateway: counted(asked('gateway', gateway, load, { clients: buyers, asks }), countHolds),
    yardstick: counted(holding(hold.name, hold.run, { clients, targets: targets.length }), countHolds),
    disagreement: async () => stage.holdProblem,
    residentMegabytes: () => residentMegabytes(stage),
  }
}

/** Everything that is measured, in order: what reads before what sells. */
export const jobsOn = (stage: Stage): Job[] => [
  pageJob(stage, 'graphql', 'page-graphql', '50 events with everything nested, GraphQL'),
  pageJob(stage, 'rest', 'page-rest', '50 events with populate=*, REST'),
  pageJob(stage, 'events', 'events', '50 events without populate, REST'),
  pageJob(stage, 'search', 'search', 'search for a word, REST'),
  pageJob(stage, 'radius', 'radius', 'events within 25 km, REST'),
  ...(['many', 'one'] as const).flatMap((rates) =>
    (['rest', 'graphql'] as const).flatMap((surface) =>
      [16, 64].map((buyers) => checkoutJob(stage, surface, { rates, clients: buyers })),
    ),
  ),
]
