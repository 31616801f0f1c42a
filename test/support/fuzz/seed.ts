import { randomInt } from 'node:crypto'

const given = process.env.FUZZ_SEED

/** Where the random values of a run begin: `FUZZ_SEED=<number>` chooses the same ones again. */
export const seed = given === undefined ? randomInt(2 ** 31) : Number(given)

// Set by what runs long.
const times = Number(process.env.FUZZ_TIMES ?? 1)

/** How often a property is tried. Its time ends only what a very busy machine would take too long for. */
export const fuzzRuns = (numRuns: number, seconds: number) => ({
  seed,
  numRuns: numRuns * times,
  interruptAfterTimeLimit: seconds * 1000 * times,
})
