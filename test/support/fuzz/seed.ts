import { randomInt } from 'node:crypto'

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
