const decimals = new Map<string, number>()

/** How many decimals a currency has at the edge: 2 for EUR, 0 for JPY (ISO 4217). */
export function decimalsOf(currency: string): number {
  const known = decimals.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const found = format.resolvedOptions().maximumFractionDigits ?? 2
  decimals.set(currency, found)
  return found
}

/** Minor units to the JSON number of the edge: 1050 EUR is 10.5, 1050 JPY is 1050 (DECISIONS 1). */
export const toMajor = (minor: number, currency: string): number => minor / 10 ** decimalsOf(currency)

/** A JSON number of the edge to minor units. */
export const toMinor = (major: number, currency: string): number =>
  Math.round(major * 10 ** decimalsOf(currency))

/** Whether an amount of the edge has no more decimals than its currency: 10.505 EUR is no amount. */
export const isAmount = (major: number, currency: string): boolean =>
  Number.isSafeInteger(toMinor(major, currency)) && toMajor(toMinor(major, currency), currency) === major

// A percentage has at most four decimals, so a part of an amount is an integer over a million.
const perMillion = 1_000_000n

/** A percentage of an amount in minor units, rounded half up once, without floating point (DECISIONS 1). */
export function percentageOf(minor: number, percentage: number): number {
  const millionths = BigInt(minor) * BigInt(Math.round(percentage * 10_000))
  return Number((millionths * 2n + perMillion) / (perMillion * 2n))
}

/** An amount as a person reads it: €10.50, ¥1,050. */
export const formatAmount = (minor: number, currency: string): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).format(toMajor(minor, currency))
