export type Words = readonly [string, ...string[]]

export type Random = {
  /** Returns an integer between both bounds, inclusive. */
  between(min: number, max: number): number
  /** Picks one item. */
  pick<Item>(list: readonly [Item, ...Item[]]): Item
  /** Picks `count` different items, in the order of the list. */
  pickSome<Item>(list: readonly [Item, ...Item[]], count: number): Item[]
}

/** Creates a pseudo-random generator that repeats for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1))
  return {
    between,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
    pickSome: (list, count) =>
      list
        .map((item, position) => ({ item, position, rank: fraction() }))
        .sort((a, b) => a.rank - b.rank)
        .slice(0, count)
        .sort((a, b) => a.position - b.position)
        .map(({ item }) => item),
  }
}
