import { parseArgs } from 'node:util'
import type { Sizes } from './growth-jobs.ts'

export type Options = {
  /** How many events the catalogue has. */
  events: number
  /** How large the catalogues are that show what growth does. */
  sizes: Sizes
  /** How long each side of a job works in each round. */
  seconds: number
  rounds: number
  /** How long each side works before it is measured. */
  warmUpSeconds: number
  /** Only the jobs that have one of these in their name. */
  only: string[]
  /** Measures each optimisation against its slow form, and nothing else. */
  ablate: boolean
  /** Where the JSON goes. */
  out: string
}

function wholeNumber(name: string, given: string): number {
  const number = Number(given)
  if (!/^\d+$/.test(given) || number < 1) throw new Error(`--${name} must be a whole number of at least 1`)
  return number
}

/** Reads the command line. `--quick` is a run that only shows that everything works. */
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
