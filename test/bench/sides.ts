import type { HoldTask } from './hold-driver.ts'
import type { Load, LoadResult } from './load.ts'
import type { Round, Side } from './measure.ts'
import { type Server, usageOf } from './server-process.ts'
import type { Transactions } from './transactions.ts'
import type { Worker } from './worker.ts'

/** A side that sends the same requests to a server repeatedly. Every response must be a 200, and none may be
 *  less than half as long as another, because a GraphQL error is also a 200. */
export const requestSide = (
  name: string,
  server: Server,
  load: Worker<Load, LoadResult>,
  given: Omit<Load, 'port' | 'seconds'>,
): Side => ({
  name,
  clients: given.clients,
  residentMegabytes: async () => (await usageOf(server.pid))?.residentMegabytes ?? null,
  async run(seconds) {
    const before = await usageOf(server.pid)
    const result = await load.run({ ...given, port: server.port, seconds })
    const after = await usageOf(server.pid)
    const { 200: good = 0, ...bad } = result.statuses
    return {
      requests: result.answers,
      seconds: result.seconds,
      p50: result.p50,
      p99: result.p99,
      cpuSeconds: before && after ? after.cpuSeconds - before.cpuSeconds : null,
      problem:
        good !== result.answers || good === 0
          ? `${name}: answers other than 200: ${JSON.stringify(bad)}`
          : result.shortest < result.longest / 2
            ? `${name}: answers of ${result.shortest} and of ${result.longest} bytes`
            : null,
    }
  },
})

/** A side that repeats the bare hold transaction, or a call that holds many. Latencies are those of a transaction. */
export const holdSide = (
  name: string,
  hold: (task: HoldTask) => Promise<Transactions>,
  task: Omit<HoldTask, 'seconds'>,
): Side => ({
  name,
  clients: task.clients,
  residentMegabytes: async () => null,
  async run(seconds) {
    const { transactions, ...result } = await hold({ ...task, seconds })
    return { ...result, requests: transactions * (task.ofCall ?? 1), cpuSeconds: null, problem: null }
  },
})

/** Checks that a side also drains a queue: some of it in any two rounds, and never all of it. */
export const withDrainCheck = (side: Side, countQueued: () => Promise<number>): Side => {
  let earlier: number | null = null
  return {
    ...side,
    async run(seconds): Promise<Round> {
      const before = await countQueued()
      const round = await side.run(seconds)
      const after = await countQueued()
      const drainProblem =
        after === 0 ? 'nothing is queued any more' : after === earlier ? 'nothing was drained' : null
      earlier = before
      return { ...round, problem: round.problem ?? (drainProblem && `${side.name}: ${drainProblem}`) }
    },
  }
}

/** Counts of each kind of row and counter that a checkout writes. */
export type Holds = Record<string, number>

/** Checks that a side wrote as many holds as it reports. */
export const withHoldCheck = (side: Side, count: () => Promise<Holds>): Side => ({
  ...side,
  async run(seconds): Promise<Round> {
    const before = await count()
    const round = await side.run(seconds)
    const after = await count()
    const wrong = Object.keys(after).filter(
      (kind) => (after[kind] ?? 0) - (before[kind] ?? 0) !== round.requests,
    )
    const writtenCounts = wrong.map((kind) => `${kind} ${(after[kind] ?? 0) - (before[kind] ?? 0)}`)
    return {
      ...round,
      problem:
        round.problem ??
        (writtenCounts.length > 0
          ? `${side.name}: ${round.requests} done, but written: ${writtenCounts.join(', ')}`
          : null),
    }
  },
})
