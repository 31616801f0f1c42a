import { fillDatabase, holdsOf, targetsOf } from './database.ts'
import { clients, type JobPlan } from './job-plan.ts'
import type { ReadersResult, ReadersTask } from './live-readers.ts'
import type { Load, LoadResult } from './load.ts'
import type { Side } from './measure.ts'
import { checkoutAsks } from './requests.ts'
import { type Server, usageOf } from './server-process.ts'
import { gatewaySettings, type SetUp, service, starterOf, startTasks } from './set-up.ts'
import { type Holds, requestSide, withHoldCheck } from './sides.ts'
import type { Worker } from './worker.ts'

/** A service with streams of one rate, and an equal one without. */
export type LiveStage = {
  key: string
  target: { rateId: string; priceId: string }
  watched: LiveService
  quiet: LiveService
  load: Worker<Load, LoadResult>
  readers: Worker<ReadersTask, ReadersResult>
  holdProblem: string | null
  say(text: string): void
}
type LiveService = {
  server: Server
  countHolds(): Promise<Holds>
  left(): Promise<number>
  /** Gives the planner the statistics that autovacuum gives it in the first minute of a sale. */
  analyze(): Promise<void>
}

const streams = 10_000
const buyers = 64
const maxKilobytes = 20
const maxMilliseconds = 1_000

const settings = {
  ...gatewaySettings,
  MAX_CONNECTIONS: String(2 * streams),
  CONNECTIONS_PER_ADDRESS: String(2 * streams),
  STREAMS_PER_KEY: String(streams),
  STREAMS_PER_ADDRESS: String(streams),
}

/** Opens one catalogue in two databases, with a service each. */
export async function openLiveStage({ scope, server, options, say }: SetUp): Promise<LiveStage> {
  const base = await scope.keep(server.create(), (database) => database.drop())
  const { keys } = await fillDatabase(base, { events: options.events, channels: clients })
  const [target] = await targetsOf(base)
  const [key] = keys
  if (!target || !key) throw new Error('the catalogue has nothing to watch')
  const start = starterOf(scope)
  const open = async (): Promise<LiveService> => {
    const database = await scope.keep(server.create(base), (database) => database.drop())
    return {
      server: await start(service, database, settings),
      countHolds: () => holdsOf(database),
      async analyze() {
        await database.sql`analyze`
      },
      async left() {
        const [row] = await database.sql<{ left: number }[]>`
          select capacity - sold_before - sold - held as left from stock where id = ${target.rateId} and mode = 'live'`
        return row?.left ?? 0
      },
    }
  }
  return {
    key,
    target,
    watched: await open(),
    quiet: await open(),
    load: await startTasks<Load, LoadResult>(scope, './load-worker.js'),
    readers: await startTasks<ReadersTask, ReadersResult>(scope, './live-readers.js'),
    holdProblem: server.problem,
    say,
  }
}

/** Checks that all streams are at the last value within a second of each round. */
const withReaders = (side: Side, { readers, watched, say }: LiveStage): Side => ({
  ...side,
  async run(seconds) {
    const round = await side.run(seconds)
    const until = { left: await watched.left(), timeoutMs: 10 * maxMilliseconds }
    const { behind, milliseconds } = await readers.run({ until })
    say(`  ${streams} streams have the last value after ${milliseconds?.toFixed(0) ?? 'too many'} ms`)
    const isLate = milliseconds === null || milliseconds > maxMilliseconds
    const problem = isLate ? `streams had the last value after ${milliseconds} ms, ${behind} never` : null
    return { ...round, problem: round.problem ?? problem }
  },
})

async function openReaders({ readers, watched, key, target, say }: LiveStage): Promise<string | null> {
  const { server } = watched
  const memory = async () => (await usageOf(server.pid))?.residentMegabytes ?? 0
  const before = await memory()
  const open = { port: server.port, key, rateId: target.rateId, count: streams }
  const { milliseconds } = await readers.run({ open })
  const kilobytes = ((await memory()) - before) * (1024 / streams)
  say(`  ${streams} streams opened in ${milliseconds?.toFixed(0)} ms, ${kilobytes.toFixed(1)} kB each`)
  return kilobytes > maxKilobytes ? `a stream takes ${kilobytes.toFixed(1)} kB` : null
}

/** Checkouts while a rate is watched by ten thousand, compared with the same while nobody watches. */
export const livePlans: JobPlan<LiveStage>[] = [
  {
    name: 'live-checkout-one',
    description: 'checkout, one rate, REST, while 10,000 watch it',
    reach: { atLeast: 0.8 },
    async on(stage) {
      const asks = checkoutAsks(stage.key, 'rest', [stage.target])
      const side = (name: string, { server, countHolds }: LiveService) =>
        withHoldCheck(requestSide(name, server, stage.load, { clients: buyers, asks }), countHolds)
      // Warmed up alike; what the watched one grows by afterwards is its streams.
      for (const one of [stage.quiet, stage.watched]) {
        await side('warm-up', one).run(2)
        await one.analyze()
      }
      const memoryProblem = await openReaders(stage)
      return {
        gateway: withReaders(side('gateway', stage.watched), stage),
        yardstick: side('itself, unwatched', stage.quiet),
        disagreement: async () => stage.holdProblem ?? memoryProblem,
      }
    },
  },
]
