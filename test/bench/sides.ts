import type { HoldResult, HoldTask } from './hold-driver.ts'
import type { Ask } from './http-client.ts'
import type { Load, LoadResult } from './load.ts'
import type { Round, Side } from './measure.ts'
import { type Server, usageOf } from './server-process.ts'
import type { Worker } from './worker.ts'

/** A server that is asked the same things again and again; every answer must be a 200. */
export const asked = (
  name: string,
  server: Server,
  load: Worker<Load, LoadResult>,
  { clients, asks }: { clients: number; asks: Ask[] },
): Side => ({
  name,
  clients,
  async run(seconds) {
    const before = await usageOf(server.pid)
    const result = await load.run({ port: server.port, clients, seconds, asks })
    const after = await usageOf(server.pid)
    const { 200: good = 0, ...bad } = result.statuses
    return {
      requests: result.answers,
      seconds: result.seconds,
      p50: result.p50,
      p99: result.p99,
      cpuSeconds: before && after ? after.cpuSeconds - before.cpuSeconds : null,
      problem:
        good === result.answers && good > 0
          ? null
          : `${name}: answers other than 200: ${JSON.stringify(bad)}`,
    }
  },
})

/** The bare hold transaction, again and again. */
export const holding = (
  name: string,
  hold: (task: HoldTask) => Promise<HoldResult>,
  task: { clients: number; targets: number },
): Side => ({
  name,
  clients: task.clients,
  async run(seconds) {
    const { transactions, ...result } = await hold({ ...task, seconds })
    return { ...result, requests: transactions, cpuSeconds: null, problem: null }
  },
})

/** Everything that a checkout must have written, each counted for itself. */
export type Holds = Record<string, number>

/** Holds a side to its word: as many holds must have been written as it says that it made. */
export const counted = (side: Side, count: () => Promise<Holds>): Side => ({
  ...side,
  async run(seconds): Promise<Round> {
    const before = await count()
    const round = await side.run(seconds)
    const after = await count()
    const wrong = Object.keys(after).filter(
      (kind) => (after[kind] ?? 0) - (before[kind] ?? 0) !== round.requests,
    )
    const told = wrong.map((kind) => `${kind} ${(after[kind] ?? 0) - (before[kind] ?? 0)}`)
    return {
      ...round,
      problem:
        round.problem ??
        (told.length > 0 ? `${side.name}: ${round.requests} done, but written: ${told.join(', ')}` : null),
    }
  },
})
