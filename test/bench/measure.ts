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
  /** What the process that answers keeps in memory now, in megabytes; null where it isn't known. */
  residentMegabytes(): Promise<number | null>
}

/** How many of the yardstick's requests a second are to be reached at least, or how much of its time a request may take
 *  at most; by the medians where both are asked at a pace of their own. */
export type Reach = { atLeast: number } | { atMost: number; by?: 'medians' }

/** The gateway's work beside the same work done by something simpler, in the same minute on the same machine. */
export type Job = {
  name: string
  description: string
  /** Null where nothing is asked for. */
  reach: Reach | null
  gateway: Side
  /** Null where the gateway's work is only recorded. */
  yardstick: Side | null
  /** What must be done before the two are compared. */
  prepare?(): Promise<void>
  /** Compares what the two answer. Resolves to why they can't be compared, or to null. */
  disagreement(): Promise<string | null>
}

/** Medians over the rounds. */
export type Measured = {
  name: string
  clients: number
  requestsPerSecond: number
  p50: number
  p99: number
  cpuMillisecondsPerRequest: number | null
  residentMegabytes: number | null
  rounds: Round[]
}

export type Result = {
  job: string
  description: string
  gateway: Measured
  yardstick: Measured | null
  reach: Reach | null
  /** The gateway's requests for each of the yardstick's, or its time for each of the yardstick's where there is a most
   *  to it: the median over the rounds. Null where there is no yardstick, or where `problem` says why. */
  ratio: number | null
  /** Whether there is a ratio and it is what it is to be; null where nothing is asked for. */
  reached: boolean | null
  problem: string | null
}

const perSecond = ({ requests, seconds }: Round) => requests / seconds

async function summarize(side: Side, rounds: Round[]): Promise<Measured> {
  const cpu = rounds.flatMap(({ cpuSeconds, requests }) =>
    cpuSeconds === null ? [] : [(cpuSeconds * 1000) / requests],
  )
  return {
    name: side.name,
    clients: side.clients,
    requestsPerSecond: median(rounds.map(perSecond)),
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    cpuMillisecondsPerRequest: cpu.length > 0 ? median(cpu) : null,
    residentMegabytes: await side.residentMegabytes(),
    rounds,
  }
}

function ratioOf(one: Round, other: Round, reach: Reach | null): number {
  if (!reach || !('atMost' in reach)) return perSecond(one) / perSecond(other)
  return reach.by === 'medians' ? one.p50 / other.p50 : perSecond(other) / perSecond(one)
}

const isReached = (ratio: number, reach: Reach): boolean =>
  'atLeast' in reach ? ratio >= reach.atLeast : ratio <= reach.atMost

/** Measures the two sides by turns, so that what else the machine does meets both. Each round gives one ratio, and the
 *  result is their median. There is none where the two didn't do the same. */
export async function measure(
  job: Job,
  { seconds, rounds, warmUpSeconds }: { seconds: number; rounds: number; warmUpSeconds: number },
): Promise<Result> {
  await job.prepare?.()
  const problems = [await job.disagreement()]
  const gateway: Round[] = []
  const yardstick: Round[] = []
  for (const side of [job.gateway, job.yardstick])
    if (side) problems.push((await side.run(warmUpSeconds)).problem)
  for (let round = 0; round < rounds; round++) {
    gateway.push(await job.gateway.run(seconds))
    if (job.yardstick) yardstick.push(await job.yardstick.run(seconds))
  }
  const measured = [...gateway, ...yardstick]
  problems.push(...measured.map(({ problem }) => problem), await job.disagreement())
  if (measured.some(({ requests }) => requests === 0))
    problems.push('there was a round in which nothing was done')
  const problem = problems.find((problem) => problem !== null) ?? null
  const ratios = gateway.flatMap((round, index) => {
    const other = yardstick[index]
    return other ? [ratioOf(round, other, job.reach)] : []
  })
  const ratio = problem || ratios.length === 0 ? null : median(ratios)
  return {
    job: job.name,
    description: job.description,
    gateway: await summarize(job.gateway, gateway),
    yardstick: job.yardstick && (await summarize(job.yardstick, yardstick)),
    reach: job.reach,
    ratio,
    reached: job.reach && ratio !== null && isReached(ratio, job.reach),
    problem,
  }
}
