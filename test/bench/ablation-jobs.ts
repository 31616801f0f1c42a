import type { Surface } from './bare-lookups-sql.ts'
import { type Asks, eachWithItsOwn, type JobPlan } from './job-plan.ts'
import type { Load, LoadResult } from './load.ts'
import { buyers, type PaymentStage } from './payment-jobs.ts'
import { paymentSide } from './payment-sides.ts'
import { checkoutAsks, lookupAsks, pageAsks, type Sample, type Target } from './requests.ts'
import type { Server } from './server-process.ts'
import { requestSide, withHoldCheck } from './sides.ts'
import type { Worker } from './worker.ts'

/** One catalogue, and the service as it comes beside the service without one of its optimisations. */
export type AblationStage = {
  keys: string[]
  tickets: { key: string; ids: string[] }
  load: Worker<Load, LoadResult>
  sample: Sample
  targets: Target[]
  fast: Server
  /** Starts the service without an optimisation, and ends the one that was started before. */
  without(optimisation: string): Promise<Server>
}

type Work = 'page' | 'lookup' | 'one rate' | 'many rates'

const asksFor = (stage: AblationStage, work: Work, surface: Surface): Asks => {
  const { keys, tickets, sample, targets } = stage
  const [key = ''] = keys
  if (work === 'page') return eachWithItsOwn(keys, (key) => pageAsks(key, sample)[surface])
  if (work === 'lookup') return { clients: 64, asks: lookupAsks(tickets.key, surface, tickets.ids) }
  return work === 'one rate'
    ? { clients: 64, asks: checkoutAsks(key, surface, targets.slice(0, 1)) }
    : { clients: 16, asks: checkoutAsks(key, surface, targets) }
}

const ablationJob = (optimisation: string, work: Work, surface: Surface): JobPlan<AblationStage> => ({
  name: `ablate-${optimisation}-${work.replace(' ', '-')}-${surface}`,
  description: `${optimisation}: ${work}, ${surface === 'rest' ? 'REST' : 'GraphQL'}`,
  reach: null,
  async on(stage) {
    const asks = asksFor(stage, work, surface)
    return {
      gateway: requestSide('fast', stage.fast, stage.load, asks),
      yardstick: requestSide('slow form', await stage.without(optimisation), stage.load, asks),
      disagreement: async () => null,
    }
  },
})

const onBoth = (optimisation: string, ...works: Work[]) =>
  works.flatMap((work) => [
    ablationJob(optimisation, work, 'rest'),
    ablationJob(optimisation, work, 'graphql'),
  ])

/** Each optimisation on the jobs that it is for. */
export const ablationPlans: JobPlan<AblationStage>[] = [
  ...onBoth('coalesce', 'lookup', 'many rates'),
  ...onBoth('hold-together', 'one rate', 'many rates'),
  ...onBoth('joined-reads', 'page'),
  ablationJob('lookahead', 'page', 'graphql'),
  ...onBoth('prefetch', 'lookup', 'one rate', 'many rates'),
  ablationJob('repeat-object', 'page', 'graphql'),
  ablationJob('skip-yoga', 'page', 'graphql'),
  ablationJob('skip-yoga', 'lookup', 'graphql'),
  ablationJob('skip-yoga', 'one rate', 'graphql'),
  ...onBoth('versioned-loader', 'page'),
]

/** The optimisation of payments, which needs payments that are due. */
export const paymentAblationPlans: JobPlan<PaymentStage>[] = [
  {
    name: 'ablate-settle-together-payments',
    description: `settle-together: payments of one rate, ${buyers} buyers, by the page`,
    reach: null,
    async on({ payments, openSale }) {
      const { gateway, database, startWithout } = await openSale('sandbox', 'direct')
      const { makeDue, countPaid, findBroken } = database
      const sideOf = (name: string, server: Server) =>
        withHoldCheck(
          paymentSide(name, { server, load: payments, provider: 'sandbox', buyers, makeDue }),
          countPaid,
        )
      return {
        gateway: sideOf('fast', gateway),
        yardstick: sideOf('slow form', await startWithout('settle-together')),
        disagreement: findBroken,
      }
    },
  },
]
