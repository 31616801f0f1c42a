import { median } from './statistics.ts'

/** Results of one side in one round. Latencies in milliseconds. */
export type Round = {
  requests: number
  seconds: number
  p50: number
  p99: number
  /** CPU time of the responding process; null if unknown. */
  cpuSeconds: number | null
  /** Reason why this round is void, or null. */
  problem: string | null
}

/** A side of a comparison: the gateway, or its yardstick. */
export type Side = {
  name: string
  clients: number
  run(seconds: number): Promise<Round>
  /** Resident memory of the responding process in megabytes; null if unknown. */
  residentMegabytes(): Promise<number | null>
}

/** Goal of a job: the minimum ratio of requests per second, or the maximum ratio of time per request.
 *  `medians` compares median latencies, for sides at a fixed pace. */
export type Reach = { atLeast: number } | { atMost: number; by?: 'medians' }

/** A comparison of the gateway with something simpler that does the same work, on the same machine at the
 *  same time. */
export type Job = {
  name: string
  description: string
  /** Null if there is no goal. */
  reach: Reach | null
  gateway: Side
  /** Null if the gateway is only recorded. */
  yardstick: Side | null
  /** Preparation before the comparison. */
  prepare?(): Promise<void>
  /** Compares the responses of both sides. Resolves to why their speeds can't be compared, or to null. */
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
  /** Median ratio over the rounds of the gateway's requests to the yardstick's, or of its time for `atMost`.
   *  Null without a yardstick, or if there is a `problem`. */
  ratio: number | null
  /** True if the ratio reaches the goal; null if there is no goal. */
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

/** Measures both sides in turns, so that other load of the machine affects both. Each round gives one ratio;
 *  the result is their median. There is no ratio if the sides didn't do the same work. */
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
