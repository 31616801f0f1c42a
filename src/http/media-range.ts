/** Chooses among media types by an `Accept` header; the first one if it prefers none. Types are compared
 *  whole, so that a range such as `text/*` prefers nothing. */
export function preferredType<Type extends string>(
  accept: string | undefined,
  [first, ...others]: readonly [Type, ...Type[]],
): Type {
  const ranges = (accept ?? '')
    .toLowerCase()
    .split(',', 50)
    .map((item) => {
      const [type = '', ...parameters] = item.split(';').map((part) => part.trim())
      const quality = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1)
      return { type, quality: quality > 0 && quality <= 1 ? quality : 0 }
    })
  const qualityOf = (type: Type) => ranges.find((range) => range.type === type)?.quality ?? 0
  const rest = Math.max(0, ...ranges.filter(({ type }) => type === '*/*').map(({ quality }) => quality))
  return others.reduce<Type>((best, type) => {
    const bestQuality = best === first ? Math.max(qualityOf(first), rest) : qualityOf(best)
    return qualityOf(type) > bestQuality ? type : best
  }, first)
}
