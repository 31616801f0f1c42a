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
type Optimisation = (typeof optimisations)[number]

/** Parses `FAST` into the optimisations to switch off: `off` for all, or names with a leading minus, such as
 *  `-prefetch,-skip-yoga`. Throws for anything else. */
function parseFast(text = ''): ReadonlySet<Optimisation> {
  if (text === 'off') return new Set(optimisations)
  const names = text.split(',').filter((name) => name !== '')
  return new Set(
    names.map((name) => {
      const known = optimisations.find((optimisation) => name === `-${optimisation}`)
      if (!known) throw new Error(`FAST: unknown name ${name}`)
      return known
    }),
  )
}

// For tests and measurements that compare the fast forms with the slow ones. Not a setting of the service.
const off = parseFast(process.env.FAST)

/** Reports whether an optimisation is on. */
export const isFast = (name: Optimisation): boolean => !off.has(name)
