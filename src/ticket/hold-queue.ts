import { Refusal } from '../errors.ts'

export type HoldQueueOptions = {
  /** The most jobs that are run together. */
  mostTogether: number
  /** The most runs of one key at a time: one writes while another waits for its rows. */
  mostRunning: number
  /** The most jobs that wait for one key; more are refused. */
  mostWaiting: number
}

type Waiting<Job, Outcome> = {
  job: Job
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}
type Line<Job, Outcome> = { waiting: Waiting<Job, Outcome>[]; running: number }

/** Jobs of the same key that come while others of it run wait for at most that long, and are then run together, first
 *  come first served. A run that fails is taken apart: each of its jobs is run once more by itself, so that one never
 *  fails its neighbours. Refuses: BUSY, where too many wait. */
export function queueByKey<Job, Outcome>(
  run: (jobs: Job[]) => Promise<Outcome[]>,
  { mostTogether, mostRunning, mostWaiting }: HoldQueueOptions,
): (key: string, job: Job) => Promise<Outcome> {
  const lines = new Map<string, Line<Job, Outcome>>()

  async function runAlone({ job, resolve, reject }: Waiting<Job, Outcome>): Promise<void> {
    try {
      const [outcome] = await run([job])
      resolve(outcome as Outcome)
    } catch (error) {
      reject(error)
    }
  }

  async function runTogether(group: Waiting<Job, Outcome>[]): Promise<void> {
    try {
      const outcomes = await run(group.map(({ job }) => job))
      group.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as Outcome)
      })
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error)
      else for (const one of group) await runAlone(one)
    }
  }

  function next(key: string, line: Line<Job, Outcome>): void {
    if (line.waiting.length === 0 && line.running === 0 && lines.get(key) === line) lines.delete(key)
    if (line.waiting.length === 0 || line.running >= mostRunning) return
    line.running++
    void runTogether(line.waiting.splice(0, mostTogether)).finally(() => {
      line.running--
      next(key, line)
    })
  }

  return (key, job) =>
    new Promise((resolve, reject) => {
      const line = lines.get(key) ?? { waiting: [], running: 0 }
      lines.set(key, line)
      if (line.waiting.length >= mostWaiting)
        throw new Refusal({
          code: 'BUSY',
          message: 'Too many checkouts of this rate at once. Try again.',
          facts: { retryAfter: 1 },
        })
      line.waiting.push({ job, resolve, reject })
      // Not at once: what comes in the same turn of the event loop goes together.
      setImmediate(() => next(key, line))
    })
}
