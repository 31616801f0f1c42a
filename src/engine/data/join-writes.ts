import { busy } from '../base/errors.ts'
import { isFast } from '../base/fast.ts'
import { instruments, type Origin } from '../base/instruments.ts'
import { createBulkhead, everybody, takeTurn } from '../base/turns.ts'
import { type Database, isOutage, ownedBy, perDatabase } from '../database/database.ts'

/** Outcome of a job that a run skipped, because its rows are locked elsewhere. */
export const deferred = Symbol('deferred')

type Outcomes<Outcome> = Promise<(Outcome | typeof deferred)[]>

/** Writes jobs of one key: waits for row locks, or defers those that it would wait for. */
type Write<Job, Outcome> = (db: Database, jobs: Job[], onLocked: 'wait' | 'skip') => Outcomes<Outcome>

type Joining<Job, Outcome> = {
  /** Words for whoever is refused because too many wait. */
  words: string
  /** Returns the owner of a job's key: an organization in its mode, or a caller. Owners take turns, however many keys each
   *  has. */
  ownerOf(job: Job): string
  /** Jobs per run. */
  maxTogether?: number
  /** Concurrent runs of a single key, which may wait for row locks. One owner has half of them. */
  maxAlone: number
  /** Concurrent runs of the same key: one writes while another, a full one, waits for its row locks. Also concurrent
   *  mixed runs of the same family. */
  maxOfKey: number
  /** Jobs waiting per key; more are refused. */
  maxWaiting: number
  /** Joins those of all keys of a family. Each key of a run that is deferred goes on by itself. */
  mixed?: {
    /** Returns the family of a job's key, which is of one owner; all keys of an owner are of one if it is absent. */
    familyOf?(job: Job): string
    /** Writes jobs of any keys of a family without waiting for row locks. */
    write(db: Database, jobs: Job[]): Outcomes<Outcome>
  }
  /** Concurrent runs that mix keys. */
  maxMixed?: number
  /** Optimisation without which each is written alone. */
  ifFast?: Parameters<typeof isFast>[0]
}

type Waiting<Job, Outcome> = {
  job: Job
  line: Line<Job, Outcome>
  resolve(outcome: Outcome | typeof deferred): void
  reject(error: unknown): void
  /** Span of the request that waits; undefined without traces. */
  origin: Origin | undefined
}
type Running = { mixed: number; alone: number }
type Owner<Job, Outcome> = { name: string; lines: Map<string, Line<Job, Outcome>>; running: Running }
/** Jobs of one key. `isAlone` is set once a mixed run defers one of them, until none is waiting. */
type Line<Job, Outcome> = {
  key: string
  owner: Owner<Job, Outcome>
  family: string
  waiting: Waiting<Job, Outcome>[]
  running: number
  isAlone: boolean
}

// Batches jobs by key: jobs that arrive while others run wait for that run and then run together, first come,
// first served; owners take turns. Unlike a joined read, a job may be refused, deferred or fail by itself. Knows nothing
// about the jobs.
//
//     arrives ──► waits in the line of its key ──► mixed run, with idle keys ──► done
//         │                    │    of its family       │ deferred
//         │                    └──► run of its key ◄────┘
//         │                            │ fails
//         └ line full: busy            └──► each job alone ──► done, deferred or failed by itself
//
// A key that a mixed run defers gets its own runs, so that it delays no other key. So does a key that is
// already running, once a full run is waiting. A failed run is split, a mixed one by key and one of a single
// key by job, so that one job never fails its neighbours.
function openQueue<Job, Outcome>(
  db: Database,
  name: string,
  write: Write<Job, Outcome>,
  options: Joining<Job, Outcome>,
): (key: string, job: Job) => Promise<Outcome | typeof deferred> {
  type Group = [Waiting<Job, Outcome>, ...Waiting<Job, Outcome>[]]
  const { mixed, maxTogether = 64, maxMixed = mixed ? 2 : 0, maxAlone, maxOfKey, maxWaiting } = options
  const owners = new Map<string, Owner<Job, Outcome>>()
  const running: Running = { mixed: 0, alone: 0 }
  const familiesRunning: string[] = []
  let isScheduled = false

  // In a span that is linked to the requests of all jobs, if traces are on.
  function run(group: Group, work: (own: Database, jobs: Job[]) => Outcomes<Outcome>) {
    const own = ownedBy(db, group[0].line.owner.name)
    const jobs = group.map(({ job }) => job)
    const origins = group.map(({ origin }) => origin)
    return instruments.tracer?.inBatch(name, origins, () => work(own, jobs)) ?? work(own, jobs)
  }

  async function runAlone(group: Group): Promise<void> {
    try {
      const outcomes = await run(group, (own, jobs) => write(own, jobs, 'skip'))
      for (const [index, { resolve }] of group.entries()) resolve(outcomes[index] ?? deferred)
    } catch (error) {
      if (group.length === 1 || isOutage(error)) for (const { reject } of group) reject(error)
      else for (const waiting of group) await runAlone([waiting])
    }
  }

  async function runMixed(group: Group): Promise<void> {
    const unfinished: Waiting<Job, Outcome>[] = []
    const { family } = group[0].line
    familiesRunning.push(family)
    try {
      const outcomes = await run(group, async (own, jobs) => mixed?.write(own, jobs) ?? [])
      for (const [index, waiting] of group.entries()) {
        const outcome = outcomes[index] ?? deferred
        if (outcome === deferred) unfinished.push(waiting)
        else waiting.resolve(outcome)
      }
    } catch (error) {
      if (!isOutage(error)) unfinished.push(...group)
      else for (const { reject } of group) reject(error)
    }
    familiesRunning.splice(familiesRunning.indexOf(family), 1)
    instruments.observer?.onWaiting(name, unfinished.length)
    // In reverse, so that each line keeps the order of arrival.
    for (const waiting of unfinished.reverse()) {
      waiting.line.isAlone = true
      waiting.line.waiting.unshift(waiting)
    }
  }

  const takeFrom = (line: Line<Job, Outcome>, max: number) => {
    line.running++
    return line.waiting.splice(0, max) as Group
  }

  function takeMixed({ lines }: Owner<Job, Outcome>): Group | null {
    const group: Waiting<Job, Outcome>[] = []
    const mayRun = (family: string) =>
      group[0]
        ? group[0].line.family === family
        : familiesRunning.filter((other) => other === family).length < maxOfKey
    for (const line of lines.values()) {
      if (group.length >= maxTogether) break
      if (line.running === 0 && !line.isAlone && mayRun(line.family))
        group.push(...takeFrom(line, maxTogether - group.length))
    }
    return group.length > 0 ? (group as Group) : null
  }

  function takeAlone(owner: Owner<Job, Outcome>): Group | null {
    if (owner.name !== everybody && owner.running.alone >= Math.ceil(maxAlone / 2)) return null
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
    kind: keyof Running,
    take: (owner: Owner<Job, Outcome>) => Group | null,
    start: (group: Group) => Promise<void>,
  ): void {
    while (running[kind] < max) {
      const group = takeTurn(owners, take)
      if (!group) return
      const counts = [running, group[0].line.owner.running]
      for (const count of counts) count[kind]++
      instruments.observer?.onWaiting(name, -group.length)
      instruments.observer?.onBatch(name, group.length)
      void start(group).finally(() => {
        for (const count of counts) count[kind]--
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
    if (!isScheduled) setImmediate(startRuns)
    isScheduled = true
  }

  return (key, job) =>
    new Promise((resolve, reject) => {
      const ownerName = options.ownerOf(job)
      const fresh = { name: ownerName, lines: new Map(), running: { mixed: 0, alone: 0 } }
      const owner = owners.get(ownerName) ?? fresh
      const family = mixed?.familyOf?.(job) ?? ownerName
      const line = owner.lines.get(key) ?? { key, owner, family, waiting: [], running: 0, isAlone: false }
      owners.set(ownerName, owner)
      owner.lines.set(key, line)
      if (line.waiting.length >= maxWaiting) throw busy(options.words)
      line.waiting.push({ job, line, resolve, reject, origin: instruments.tracer?.origin() })
      instruments.observer?.onWaiting(name, 1)
      schedule()
    })
}

/** Joins writes by key, through a queue for each database: those that arrive while others of their key are written are
 *  written together, up to 64 at once, or with those of other keys by `mixed`. What a run defers, because its rows are
 *  locked elsewhere, is written alone afterwards, and then waits for them. Refuses: BUSY, if too many wait. */
export function joinWrites<Job, Outcome>(
  name: string,
  write: Write<Job, Outcome>,
  options: Joining<Job, Outcome>,
): (db: Database, key: string, job: Job) => Promise<Outcome> {
  const { ownerOf, maxWaiting, words, ifFast } = options
  const queueOf = perDatabase((db) => openQueue(db, name, write, options))
  const aloneOf = perDatabase(() => createBulkhead({ maxAtOnce: 2, maxOfOwner: 1, maxWaiting, words }))
  return async (db, key, job) => {
    const outcome = !ifFast || isFast(ifFast) ? await queueOf(db)(key, job) : deferred
    if (outcome !== deferred) return outcome
    const owner = ownerOf(job)
    const [exact] = await aloneOf(db)(owner, () => write(ownedBy(db, owner), [job], 'wait'))
    if (exact === undefined || exact === deferred) throw new Error(`${name}: deferred although written alone`)
    return exact
  }
}
