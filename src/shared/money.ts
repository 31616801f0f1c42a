import { isoDecimals } from './currencies.ts'

/** Number of decimals of a currency: 2 for EUR, 0 for JPY (ISO 4217). A code that no organization can have, which
 *  only a provider could send, counts as one with 2. */
export const decimalsOf = (currency: string): number => isoDecimals.get(currency) ?? 2

/** Converts minor to major units, as in JSON: 1050 is 10.5 in EUR and 1050 in JPY (DECISIONS 1). */
export const toMajor = (minor: number, currency: string): number => minor / 10 ** decimalsOf(currency)

/** Converts major units, as in JSON, to minor units. */
export const toMinor = (major: number, currency: string): number =>
  Math.round(major * 10 ** decimalsOf(currency))

/** Reports whether an amount in major units fits the decimals of its currency: 10.505 EUR does not. */
export const isAmount = (major: number, currency: string): boolean =>
  Number.isSafeInteger(toMinor(major, currency)) && toMajor(toMinor(major, currency), currency) === major

// A percentage has at most four decimals, so it is an integer number of millionths.
const perMillion = 1_000_000n

/** Computes a percentage of an amount in minor units, rounded half up once, in integers (DECISIONS 1). */
export function percentageOf(minor: number, percentage: number): number {
  const millionths = BigInt(minor) * BigInt(Math.round(percentage * 10_000))
  return Number((millionths * 2n + perMillion) / (perMillion * 2n))
}
