import { randomInt } from 'node:crypto'
import { writeSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'

const text = process.env.FUZZ_SEED

/** Seed of a run's random values. Set `FUZZ_SEED=<number>` to repeat a run. */
export const seed = text === undefined ? randomInt(2 ** 31) : Number(text)

// Set for the long tests.
const times = Number(process.env.FUZZ_TIMES ?? 1)

/** fast-check parameters: the number of runs, and a time limit that only a very busy machine reaches. */
export const fuzzRuns = (numRuns: number, seconds: number) => ({
  seed,
  numRuns: numRuns * times,
  interruptAfterTimeLimit: seconds * 1000 * times,
})

// At once and past the test runner, so that it is there even if the process dies.
writeSync(2, `FUZZ_SEED=${seed} in process ${process.pid}\n`)

// Far above what any request needs, and far below what the process may have.
const maxHeapBytes = 1.5 * 2 ** 30
const maxAnswerCharacters = 8 * 2 ** 20

/** Fails with the request at hand where an answer or the memory of this process is out of proportion, before the
 *  process dies without a word. */
export function requireModest(request: string, answer: string): void {
  const { used_heap_size: heapUsed } = getHeapStatistics()
  if (heapUsed < maxHeapBytes && answer.length < maxAnswerCharacters) return
  const sizes = `a heap of ${heapUsed} bytes and an answer of ${answer.length} characters`
  throw new Error(`FUZZ_SEED=${seed}: ${sizes} after ${request.slice(0, 10_000)}`)
}
