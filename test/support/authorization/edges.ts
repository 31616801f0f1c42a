import type { Matrix, Seen } from './checker.ts'
import { ownersIn, type Rule, rules } from './oracle.ts'

/** Checks the target of every seen edge against its owner in the database. */
export async function checkEdges(
  { world, seen }: Matrix,
  ruleOf: Map<string, Rule | 'part'>,
): Promise<string[]> {
  const owners = await ownersIn(world.sale.db)
  const wrongWith = ({ at, id, type, caller }: Seen): string | null => {
    const rule = ruleOf.get(at)
    if (rule === undefined) return `${at} has no row`
    if (rule === 'part' || id === null) return null
    // A page sees the payment of its own checkout, in the answer to it alone.
    if (caller.kind === 'publishable' && at === 'CheckoutPayload.payment') return null
    const thing = owners.get(id)
    if (!thing) return `${at} leads to ${type} ${id}, which nobody knows`
    return rules[rule](caller, thing) ? null : `${at} leads ${caller.name} to ${type} ${id}`
  }
  return [...new Set(seen.map(wrongWith).filter((wrong) => wrong !== null))]
}

/** Edges that had a target in at least one response. */
export const reachedEdges = ({ seen }: Matrix): Set<string> =>
  new Set(seen.filter(({ type }) => type !== '').map(({ at }) => at))
