import { parseArgs } from 'node:util'
import type { Sizes } from './growth-jobs.ts'

export type Options = {
  /** Number of events in the catalogue. */
  events: number
  /** Sizes of the catalogues in the growth jobs. */
  sizes: Sizes
  /** Duration of each side in each round. */
  seconds: number
  rounds: number
  /** Duration of each side's warm-up. */
  warmUpSeconds: number
  /** Runs only jobs whose name contains one of these. */
  only: string[]
  /** Measures each optimisation against its slow form, and nothing else. */
  ablate: boolean
  /** File to write the results to, as JSON. */
  out: string
}

function wholeNumber(name: string, given: string): number {
  const number = Number(given)
  if (!/^\d+$/.test(given) || number < 1) throw new Error(`--${name} must be a whole number of at least 1`)
  return number
}

/** Parses the command line. `--quick` only checks that everything works. */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string', default: '' },
      out: { type: 'string', default: 'test/bench/data/bench.json' },
      quick: { type: 'boolean', default: false },
      ablate: { type: 'boolean', default: false },
    },
  })
  const { quick, ablate, only, out } = values
  return {
    events: wholeNumber('events', values.events ?? (quick || ablate ? '200' : '20000')),
    sizes: quick
      ? { events: [100, 200, 1000], tickets: [100, 10_000], deliveries: 10_000 }
      : { events: [2000, 20_000, 200_000], tickets: [1000, 1_000_000], deliveries: 10_000 },
    seconds: wholeNumber('seconds', values.seconds ?? (quick || ablate ? '1' : '2')),
    // Many short slices by turns: a difference of 5 % is smaller than what the machine does meanwhile.
    rounds: quick ? 1 : ablate ? 12 : 3,
    warmUpSeconds: quick ? 1 : 2,
    only: only.split(','),
    ablate,
    out,
  }
}
