import { setImmediate as nextTurn } from 'node:timers/promises'

/** Limits of a queue. */
export type BatchLimits = {
  /** Jobs that run together. */
  maxTogether: number
  /** Runs at a time of jobs of several keys; 0 where every run is of one. */
  maxMixed: number
  /** Runs at a time of jobs of one key each, which may have to wait for its rows. */
  maxAlone: number
  /** Runs of one key at a time: one writes while another, a full one, waits for its rows. */
  maxOfKey: number
  /** Jobs that wait for one key; more are refused. */
  maxWaiting: number
}

/** Outcome that a mixed run gives for a job that it did not touch: the job's key is to run by itself. */
export const deferred = Symbol('deferred')

/** Jobs that are answered in one turn of the event loop. What follows from 64 answers takes milliseconds, in which
 *  nobody else would have a turn. */
const answersPerTurn = 8

export type BatchRuns<Job, Outcome> = {
  /** Runs jobs of any keys, and waits for none of their rows. Needed where `maxMixed` is not 0. */
  mixed?(jobs: Job[]): Promise<(Outcome | typeof deferred)[]>
  /** Runs jobs of one key. */
  alone(jobs: Job[]): Promise<Outcome[]>
  /** Whether an error has to do with none of the jobs, so that it would meet each of them alone too. */
  concernsAll(error: unknown): boolean
  /** Error for a job whose key has too many waiting. */
  busy(): Error
}

type Waiting<Job, Outcome> = {
  job: Job
  line: Line<Job, Outcome>
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}
/** `isAlone` says that a mixed run has deferred it, until nobody waits in it any more. */
type Line<Job, Outcome> = {
  key: string
  waiting: Waiting<Job, Outcome>[]
  running: number
  isAlone: boolean
}

/** Batches jobs by key: those that come while others run wait for at most that long, and then run together, first come
 *  first served. It knows nothing of what a job is.
 *
 *      comes ──► waits in the line of its key ──► mixed run, with idle keys ──► done
 *                        ▲      │                        │ deferred
 *                        │      └──► run of its key ◄────┘
 *                        │              │ fails
 *                        └ refused, busy└──► each job alone ──► done or failed by itself
 *
 *  A key that a mixed run defers has runs of its own, so that it keeps no other waiting, and so has one that runs
 *  already, once a full run waits. A run that fails is taken apart: a mixed one by keys, one of a key job by job, so that
 *  one job never fails its neighbours. */
export function batchByKey<Job, Outcome>(
  runs: BatchRuns<Job, Outcome>,
  { maxTogether, maxMixed, maxAlone, maxOfKey, maxWaiting }: BatchLimits,
): (key: string, job: Job) => Promise<Outcome> {
  type Group = Waiting<Job, Outcome>[]
  const lines = new Map<string, Line<Job, Outcome>>()
  let mixed = 0
  let alone = 0
  let isScheduled = false

  async function answer(group: Group, outcomes: Outcome[]): Promise<void> {
    for (const [index, { resolve }] of group.entries()) {
      if (index > 0 && index % answersPerTurn === 0) await nextTurn()
      resolve(outcomes[index] as Outcome)
    }
  }

  async function runEach(group: Group): Promise<void> {
    for (const { job, resolve, reject } of group)
      await runs.alone([job]).then(([outcome]) => resolve(outcome as Outcome), reject)
  }

  async function runAlone(group: Group): Promise<void> {
    try {
      const outcomes = await runs.alone(group.map(({ job }) => job))
      // The next run needn't wait until all have heard of this one.
      void answer(group, outcomes)
    } catch (error) {
      if (group.length > 1 && !runs.concernsAll(error)) return runEach(group)
      for (const { reject } of group) reject(error)
    }
  }

  async function runMixed(group: Group): Promise<void> {
    const left: Group = []
    try {
      const outcomes = (await runs.mixed?.(group.map(({ job }) => job))) ?? []
      group.forEach((waiting, index) => {
        const outcome = outcomes[index]
        if (outcome === deferred || outcome === undefined) left.push(waiting)
        else waiting.resolve(outcome)
      })
    } catch (error) {
      if (!runs.concernsAll(error)) left.push(...group)
      else for (const { reject } of group) reject(error)
    }
    // From the last to the first, so that they are at the head of their lines in the order that they came in.
    for (const waiting of left.reverse()) {
      waiting.line.isAlone = true
      waiting.line.waiting.unshift(waiting)
    }
  }

  const takeFrom = (line: Line<Job, Outcome>, max: number): Group => {
    line.running++
    return line.waiting.splice(0, max)
  }

  function takeMixed(): Group {
    const group: Group = []
    for (const line of lines.values()) {
      if (group.length >= maxTogether) break
      if (line.running === 0 && !line.isAlone) group.push(...takeFrom(line, maxTogether - group.length))
    }
    return group
  }

  function takeAlone(): Group {
    for (const line of lines.values()) {
      // It would wait for the rows of the one that runs: it may as well wait here, for those who are yet to come.
      const least = line.running > 0 ? maxTogether : 1
      const isApart = maxMixed === 0 || line.isAlone || line.running > 0
      if (isApart && line.running < maxOfKey && line.waiting.length >= least)
        return takeFrom(line, maxTogether)
    }
    return []
  }

  /** Those that still wait in a line that has run go to the end, behind the lines that have not. */
  function leave(line: Line<Job, Outcome>): void {
    line.running--
    lines.delete(line.key)
    if (line.waiting.length > 0 || line.running > 0) lines.set(line.key, line)
  }

  function end(group: Group): void {
    for (const line of new Set(group.map(({ line }) => line))) leave(line)
    schedule()
  }

  function next(): void {
    isScheduled = false
    while (mixed < maxMixed) {
      const group = takeMixed()
      if (group.length === 0) break
      mixed++
      void runMixed(group).finally(() => {
        mixed--
        end(group)
      })
    }
    while (alone < maxAlone) {
      const group = takeAlone()
      if (group.length === 0) break
      alone++
      void runAlone(group).finally(() => {
        alone--
        end(group)
      })
    }
  }

  // Not at once: what comes in the same turn of the event loop goes together.
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(next)
  }

  return (key, job) =>
    new Promise((resolve, reject) => {
      const line = lines.get(key) ?? { key, waiting: [], running: 0, isAlone: false }
      lines.set(key, line)
      if (line.waiting.length >= maxWaiting) throw runs.busy()
      line.waiting.push({ job, line, resolve, reject })
      schedule()
    })
}
