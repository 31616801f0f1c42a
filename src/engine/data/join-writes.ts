import { busy } from '../base/errors.ts'
import { isFast } from '../base/fast.ts'
import { instruments, type Origin } from '../base/instruments.ts'
import { createBulkhead, everybody, takeTurn } from '../base/turns.ts'
import { type Database, isOutage, ownedBy, perDatabase } from '../database/database.ts'

type BatchLimits = {
  /** Jobs per run. */
  maxTogether: number
  /** Concurrent runs that mix keys; 0 if every run has a single key. */
  maxMixed: number
  /** Concurrent runs of a single key, which may wait for row locks. One owner has half of them. */
  maxAlone: number
  /** Concurrent runs of the same key: one writes while another, a full one, waits for its row locks. Also concurrent
   *  mixed runs of the same family. */
  maxOfKey: number
  /** Jobs waiting per key; more are refused. */
  maxWaiting: number
}

/** Outcome of a job that a mixed run skipped: the jobs of its key run by themselves. */
export const deferred = Symbol('deferred')

type BatchRuns<Job, Outcome> = {
  /** Name of the queue, for metrics and traces. */
  name: string
  /** Runs jobs of any keys of a family without waiting for row locks. Required unless `maxMixed` is 0. */
  mixed?(jobs: Job[]): Promise<(Outcome | typeof deferred)[]>
  /** Returns the owner of a job's key. Owners take turns, however many keys each has. */
  ownerOf(job: Job): string
  /** Returns the family of a job's key, which is of one owner; all keys of an owner are of one if it is absent. */
  familyOf?(job: Job): string
  /** Runs jobs of one key. */
  alone(jobs: Job[]): Promise<Outcome[]>
  /** Creates the error for a job whose key has too many jobs waiting. */
  busy(): Error
}

type WaitingJob<Job, Outcome> = {
  job: Job
  line: Line<Job, Outcome>
  resolve(outcome: Outcome): void
  reject(error: unknown): void
  /** Span of the request that waits; undefined without traces. */
  origin: Origin | undefined
}
type Owner<Job, Outcome> = { name: string; lines: Map<string, Line<Job, Outcome>>; alone: number }
/** Jobs of one key. `isAlone` is set once a mixed run defers one of them, until none is waiting. */
type Line<Job, Outcome> = {
  key: string
  owner: Owner<Job, Outcome>
  family: string
  waiting: WaitingJob<Job, Outcome>[]
  running: number
  isAlone: boolean
}

/** Batches jobs by key: jobs that arrive while others run wait for that run and then run together, first come,
 *  first served; owners take turns. Unlike a coalesced read, a job may be refused, deferred or fail by itself. Knows nothing
 *  about the jobs.
 *
 *      arrives ──► waits in the line of its key ──► mixed run, with idle keys ──► done
 *          │                    │    of its family       │ deferred
 *          │                    └──► run of its key ◄────┘
 *          │                            │ fails
 *          └ line full: busy            └──► each job alone ──► done or failed by itself
 *
 *  A key that a mixed run defers gets its own runs, so that it delays no other key. So does a key that is
 *  already running, once a full run is waiting. A failed run is split, a mixed one by key and one of a single
 *  key by job, so that one job never fails its neighbours. */
export function batchByKey<Job, Outcome>(
  runs: BatchRuns<Job, Outcome>,
  { maxTogether, maxMixed, maxAlone, maxOfKey, maxWaiting }: BatchLimits,
): (key: string, job: Job) => Promise<Outcome> {
  type Group = WaitingJob<Job, Outcome>[]
  const owners = new Map<string, Owner<Job, Outcome>>()
  const running = { mixed: 0, alone: 0 }
  const familiesRunning: string[] = []
  let isScheduled = false

  // In a span that is linked to the requests of all jobs, if traces are on.
  const traced = <Result>(group: Group, run: () => Promise<Result>): Promise<Result> =>
    instruments.tracer?.inBatch(
      runs.name,
      group.map(({ origin }) => origin),
      run,
    ) ?? run()

  async function runAlone(group: Group): Promise<void> {
    try {
      const outcomes = await traced(group, () => runs.alone(group.map(({ job }) => job)))
      group.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as Outcome)
      })
    } catch (error) {
      if (group.length === 1 || isOutage(error)) for (const { reject } of group) reject(error)
      else for (const waiting of group) await runAlone([waiting])
    }
  }

  async function runMixed(group: Group): Promise<void> {
    const unfinished: Group = []
    const family = group[0]?.line.family ?? ''
    familiesRunning.push(family)
    try {
      const outcomes = (await traced(group, async () => runs.mixed?.(group.map(({ job }) => job)))) ?? []
      group.forEach((waiting, index) => {
        const outcome = outcomes[index]
        if (outcome === deferred || outcome === undefined) unfinished.push(waiting)
        else waiting.resolve(outcome)
      })
    } catch (error) {
      if (!isOutage(error)) unfinished.push(...group)
      else for (const { reject } of group) reject(error)
    }
    familiesRunning.splice(familiesRunning.indexOf(family), 1)
    instruments.observer?.onWaiting(runs.name, unfinished.length)
    // In reverse, so that each line keeps the order of arrival.
    for (const waiting of unfinished.reverse()) {
      waiting.line.isAlone = true
      waiting.line.waiting.unshift(waiting)
    }
  }

  const takeFrom = (line: Line<Job, Outcome>, max: number): Group => {
    line.running++
    return line.waiting.splice(0, max)
  }

  function takeMixed({ lines }: Owner<Job, Outcome>): Group | null {
    const group: Group = []
    const mayRun = (family: string) =>
      group[0]
        ? group[0].line.family === family
        : familiesRunning.filter((other) => other === family).length < maxOfKey
    for (const line of lines.values()) {
      if (group.length >= maxTogether) break
      if (line.running === 0 && !line.isAlone && mayRun(line.family))
        group.push(...takeFrom(line, maxTogether - group.length))
    }
    return group.length > 0 ? group : null
  }

  function takeAlone(owner: Owner<Job, Outcome>): Group | null {
    if (owner.name !== everybody && owner.alone >= Math.ceil(maxAlone / 2)) return null
    for (const line of owner.lines.values()) {
      // A second run of a key only waits for the row locks of the first, so it starts only when full.
      const minJobs = line.running > 0 ? maxTogether : 1
      const isSeparate = maxMixed === 0 || line.isAlone || line.running > 0
      if (isSeparate && line.running < maxOfKey && line.waiting.length >= minJobs)
        return takeFrom(line, maxTogether)
    }
    return null
  }

  function finish(group: Group): void {
    for (const line of new Set(group.map(({ line }) => line))) {
      const { key, owner } = line
      line.running--
      owner.lines.delete(key)
      // If jobs still wait in the line, it moves behind those that have not run yet.
      if (line.waiting.length > 0 || line.running > 0) owner.lines.set(key, line)
      else if (owner.lines.size === 0) owners.delete(owner.name)
    }
    schedule()
  }

  function startUpTo(
    max: number,
    kind: keyof typeof running,
    take: (owner: Owner<Job, Outcome>) => Group | null,
    run: (group: Group) => Promise<void>,
  ): void {
    while (running[kind] < max) {
      const group = takeTurn(owners, take)
      const owner = group?.[0]?.line.owner
      if (!group || !owner) return
      running[kind]++
      if (kind === 'alone') owner.alone++
      instruments.observer?.onWaiting(runs.name, -group.length)
      instruments.observer?.onBatch(runs.name, group.length)
      void run(group).finally(() => {
        running[kind]--
        if (kind === 'alone') owner.alone--
        finish(group)
      })
    }
  }

  function startRuns(): void {
    isScheduled = false
    startUpTo(maxMixed, 'mixed', takeMixed, runMixed)
    startUpTo(maxAlone, 'alone', takeAlone, runAlone)
  }

  // Deferred by one turn, so that jobs of the same turn of the event loop run together.
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(startRuns)
  }

  return (key, job) =>
    new Promise((resolve, reject) => {
      const name = runs.ownerOf(job)
      const owner = owners.get(name) ?? { name, lines: new Map(), alone: 0 }
      const family = runs.familyOf?.(job) ?? name
      const line = owner.lines.get(key) ?? { key, owner, family, waiting: [], running: 0, isAlone: false }
      owners.set(name, owner)
      owner.lines.set(key, line)
      if (line.waiting.length >= maxWaiting) throw runs.busy()
      line.waiting.push({ job, line, resolve, reject, origin: instruments.tracer?.origin() })
      instruments.observer?.onWaiting(runs.name, 1)
      schedule()
    })
}

type JoinedWrites<Job, Outcome> = Omit<BatchLimits, 'maxTogether' | 'maxMixed'> & {
  /** Runs of several keys at once, if those are joined; two by default. */
  maxMixed?: number
  /** Words for whoever is refused because too many wait. */
  words: string
  /** Organization in its mode, or caller, whose turns a job takes. */
  ownerOf(job: Job): string
  /** Optimisation without which each is written alone. */
  ifFast?: Parameters<typeof isFast>[0]
  /** Joins those of all keys of a family. Each key of a run that is deferred goes on by itself. */
  mixed?: {
    familyOf?(job: Job): string
    write(db: Database, jobs: Job[]): Promise<(Outcome | typeof deferred)[]>
  }
}

/** Joins writes by key, through a queue for each database: those that arrive while others of their key are written are
 *  written together, up to 64 at once. What a run defers, because its rows are locked elsewhere, is written alone
 *  afterwards, and then waits for them. Refuses: BUSY, if too many wait. */
export function writesByKey<Job, Outcome>(
  name: string,
  write: (db: Database, jobs: Job[], onLocked: 'wait' | 'skip') => Promise<(Outcome | typeof deferred)[]>,
  { words, ownerOf, ifFast, mixed, ...limits }: JoinedWrites<Job, Outcome>,
): (db: Database, key: string, job: Job) => Promise<Outcome> {
  // Jobs of a run are of one owner.
  const ofOwner = (db: Database, [job]: Job[]) => (job === undefined ? db : ownedBy(db, ownerOf(job)))
  const queueOf = perDatabase((db) =>
    batchByKey<Job, Outcome | typeof deferred>(
      {
        name,
        ownerOf,
        familyOf: mixed?.familyOf,
        mixed: mixed && ((jobs) => mixed.write(ofOwner(db, jobs), jobs)),
        alone: (jobs) => write(ofOwner(db, jobs), jobs, 'skip'),
        busy: () => busy(words),
      },
      { maxTogether: 64, maxMixed: mixed ? 2 : 0, ...limits },
    ),
  )
  const { maxWaiting } = limits
  const aloneOf = perDatabase(() => createBulkhead({ maxAtOnce: 2, maxOfOwner: 1, maxWaiting, words }))
  return async (db, key, job) => {
    const outcome = !ifFast || isFast(ifFast) ? await queueOf(db)(key, job) : deferred
    if (outcome !== deferred) return outcome
    const [exact] = await aloneOf(db)(ownerOf(job), () => write(ofOwner(db, [job]), [job], 'wait'))
    if (exact === undefined || exact === deferred) throw new Error(`${name}: deferred although written alone`)
    return exact
  }
}
