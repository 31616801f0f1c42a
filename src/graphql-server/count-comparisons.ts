import { Kind, type SelectionSetNode } from 'graphql'

/** Finds the selection of a fragment that is to be followed. */
export type FindFragment = (name: string) => SelectionSetNode | undefined

/** A selection below a field, and the fragments that lead to it. */
type Selected = { set: SelectionSetNode; inside: readonly string[] }

/** Counts the pairs that GraphQL's rule about fields that can be merged compares: at each level every two fields of
 *  the same name, those in fragments too, and every two fragments. 400 times one field are 160,000, which take a fifth
 *  of a second. Stops above the limit. Skips fragment cycles, which another rule refuses. */
export function countComparisons(set: SelectionSetNode, findFragment: FindFragment, limit: number): number {
  let compared = 0

  function compareLevel(level: readonly Selected[]): void {
    const byName = new Map<string, { count: number; below: Selected[] }>()
    const spread = new Set<string>()
    const collect = ({ set, inside }: Selected): void => {
      for (const selection of set.selections) {
        if (compared > limit) return
        if (selection.kind === Kind.INLINE_FRAGMENT) collect({ set: selection.selectionSet, inside })
        else if (selection.kind === Kind.FIELD) {
          const name = selection.alias?.value ?? selection.name.value
          const found = byName.get(name) ?? { count: 0, below: [] }
          byName.set(name, found)
          compared += found.count++
          if (selection.selectionSet) found.below.push({ set: selection.selectionSet, inside })
        } else {
          const name = selection.name.value
          if (spread.has(name) || inside.includes(name)) continue
          compared += spread.size
          spread.add(name)
          const fragment = findFragment(name)
          if (fragment) collect({ set: fragment, inside: [...inside, name] })
        }
      }
    }
    for (const selected of level) collect(selected)
    for (const { below } of byName.values()) {
      compared++
      if (compared > limit) return
      if (below.length > 0) compareLevel(below)
    }
  }

  compareLevel([{ set, inside: [] }])
  return compared
}
