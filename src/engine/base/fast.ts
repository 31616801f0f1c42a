/** Optimisations that can be switched off. The file of each names its slow form. */
export const optimisations = [
  'coalesce',
  'hold-together',
  'joined-reads',
  'lookahead',
  'prefetch',
  'repeat-object',
  'settle-together',
  'skip-yoga',
  'versioned-loader',
] as const

// `FAST` has the optimisations to switch off: `off` for all, or names with a leading minus, such as `-prefetch,-skip-yoga`.
// For tests and measurements that compare the fast forms with the slow ones. Not a setting of the service.
const { FAST = '' } = process.env
const names = optimisations.map((name) => `-${name}`)
const off = FAST === 'off' ? names : FAST.split(',').filter(Boolean)
const unknown = off.find((name) => !names.includes(name))
if (unknown !== undefined) throw new Error(`FAST: unknown name ${unknown}`)

/** Reports whether an optimisation is on. */
export const isFast = (name: (typeof optimisations)[number]): boolean => !off.includes(`-${name}`)
