type Counts = Record<string, number>

/** Counts the objects in the lists of a response, by the name of the list. */
export function countRows(answer: unknown, counts: Counts = {}, list = ''): Counts {
  if (Array.isArray(answer)) {
    for (const item of answer) countRows(item, counts, list)
  } else if (answer && typeof answer === 'object') {
    if (list) counts[list] = (counts[list] ?? 0) + 1
    for (const [name, value] of Object.entries(answer))
      countRows(value, counts, Array.isArray(value) ? name : '')
  }
  return counts
}

const keysOf = (value: unknown): string[] => (value && typeof value === 'object' ? Object.keys(value) : [])

/** Describes the first difference of two responses, or returns null. */
export function firstDifference(one: unknown, other: unknown, path = 'answer'): string | null {
  const keys = [...new Set([...keysOf(one), ...keysOf(other)])]
  const areObjects = [one, other].every((value) => value && typeof value === 'object')
  if (!areObjects || Array.isArray(one) !== Array.isArray(other))
    return Object.is(one, other) ? null : `${path}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`
  const read = (value: unknown, key: string) => (value as Record<string, unknown>)[key]
  for (const key of keys) {
    const difference = firstDifference(read(one, key), read(other, key), `${path}.${key}`)
    if (difference) return difference
  }
  return null
}

/** Returns why the speeds of two responses cannot be compared, or null. */
export function disagreement(one: unknown, other: unknown): string | null {
  const [counts, others] = [countRows(one), countRows(other)]
  if (Object.keys(counts).length === 0) return 'the answers hold no rows'
  return firstDifference(counts, others, 'rows') ?? firstDifference(one, other)
}
