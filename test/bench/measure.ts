import { median } from './statistics.ts'

/** What one side did in one round. Latencies in milliseconds. */
export type Round = {
  requests: number
  seconds: number
  p50: number
  p99: number
  /** Processor time of the process that answered, where it is known. */
  cpuSeconds: number | null
  /** Why this round counts for nothing; null where all went well. */
  problem: string | null
}

/** Something that can be put to work: the gateway, or what it is held against. */
export type Side = {
  name: string
  clients: number
  run(seconds: number): Promise<Round>
}

/** The gateway's work beside the same work done by something simpler, in the same minute on the same machine. */
export type Job = {
  name: string
  description: string
  gateway: Side
  yardstick: Side
  /** Compares what the two answer. Resolves to why they can't be compared, or to null. */
  disagreement(): Promise<string | null>
  /** What the gateway's process keeps in memory now, in megabytes. */
  residentMegabytes(): Promise<number | null>
}

/** Medians over the rounds. */
export type Measured = {
  name: string
  clients: number
  requestsPerSecond: number
  p50: number
  p99: number
  cpuMillisecondsPerRequest: number | null
  rounds: Round[]
}

export type Result = {
  job: string
  description: string
  gateway: Measured
  yardstick: Measured
  residentMegabytes: number | null
  /** The gateway's requests for each of the yardstick's: the median over the rounds. Null where `problem` says why. */
  ratio: number | null
  problem: string | null
}

const perSecond = ({ requests, seconds }: Round) => requests / seconds

function summarize({ name, clients }: Side, rounds: Round[]): Measured {
  const cpu = rounds.flatMap(({ cpuSeconds, requests }) =>
    cpuSeconds === null ? [] : [(cpuSeconds * 1000) / requests],
  )
  return {
    name,
    clients,
    requestsPerSecond: median(rounds.map(perSecond)),
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    cpuMillisecondsPerRequest: cpu.length > 0 ? median(cpu) : null,
    rounds,
  }
}

/** Measures the two sides by turns, so that what else the machine does meets both. Each round gives one ratio, and the
 *  result is their median. There is none where the two didn't do the same. */
export async function measure(
  job: Job,
  { seconds, rounds, warmUpSeconds }: { seconds: number; rounds: number; warmUpSeconds: number },
): Promise<Result> {
  const problems = [await job.disagreement()]
  const gateway: Round[] = []
  const yardstick: Round[] = []
  for (const side of [job.gateway, job.yardstick]) problems.push((await side.run(warmUpSeconds)).problem)
  for (let round = 0; round < rounds; round++) {
    gateway.push(await job.gateway.run(seconds))
    yardstick.push(await job.yardstick.run(seconds))
  }
  problems.push(...[...gateway, ...yardstick].map(({ problem }) => problem), await job.disagreement())
  const problem = problems.find((problem) => problem !== null) ?? null
  return {
    job: job.name,
    description: job.description,
    gateway: summarize(job.gateway, gateway),
    yardstick: summarize(job.yardstick, yardstick),
    residentMegabytes: await job.residentMegabytes(),
    ratio: problem
      ? null
      : median(gateway.map((round, index) => perSecond(round) / perSecond(yardstick[index] ?? round))),
    problem,
  }
}
