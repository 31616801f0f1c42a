import { isoDecimals } from './currencies.ts'

/** Number of decimals of a currency: 2 for EUR, 0 for JPY (ISO 4217). A code that no organization can have, which
 *  only a provider could send, counts as one with 2. */
export const decimalsOf = (currency: string): number => isoDecimals.get(currency) ?? 2

/** Converts minor to major units, as in JSON: 1050 is 10.5 in EUR and 1050 in JPY (DECISIONS 1). */
export const toMajor = (minor: number, currency: string): number => minor / 10 ** decimalsOf(currency)

/** Converts major units, as in JSON, to minor units. */
export const toMinor = (major: number, currency: string): number =>
  Math.round(major * 10 ** decimalsOf(currency))

/** Number of decimals of amounts that are charged: no provider takes thousandths of a currency, nor hundredths of an
 *  ariary, which has none (DECISIONS 213). */
const chargedDecimalsOf = (currency: string): number =>
  currency === 'MGA' ? 0 : Math.min(2, decimalsOf(currency))

/** Smallest amount of a currency that is charged, in minor units: 1 in EUR and JPY, 10 in KWD. */
export const smallestCharge = (currency: string): number =>
  10 ** (decimalsOf(currency) - chargedDecimalsOf(currency))

/** Tolerance when an amount in major units is compared, because clients add up and multiply in floating point:
 *  21.49 * 5 is 107.44999999999999. */
const tolerance = 1e-6

/** Reports whether an amount in major units can be charged in its currency: 10.505 EUR and 1.005 KWD cannot. */
export function isAmount(major: number, currency: string): boolean {
  const minor = toMinor(major, currency)
  return (
    Number.isSafeInteger(minor) &&
    minor % smallestCharge(currency) === 0 &&
    Math.abs(toMajor(minor, currency) - major) <= tolerance
  )
}

/** Mistake of an amount that `isAmount` refuses, for people. */
export const amountMistake = (currency: string): string =>
  `must have at most ${chargedDecimalsOf(currency)} decimals, as ${smallestCharge(currency) === 1 ? currency : `what is charged in ${currency}`} has.`

/** Compares an amount in minor units with one in major units: negative if it is lower, positive if higher, 0 if they
 *  are the same. */
export function compareTotal(minor: number, major: number, currency: string): number {
  const difference = toMajor(minor, currency) - major
  return Math.abs(difference) <= tolerance ? 0 : difference
}

// A percentage has at most four decimals, so it is an integer number of millionths.
const perMillion = 1_000_000n

/** Computes a percentage of an amount in minor units, rounded half up once to a multiple of `step`, in integers
 *  (DECISIONS 1). */
export function percentageOf(minor: number, percentage: number, step = 1): number {
  const millionths = BigInt(minor) * BigInt(Math.round(percentage * 10_000))
  const unit = perMillion * BigInt(step)
  return Number((millionths * 2n + unit) / (unit * 2n)) * step
}
