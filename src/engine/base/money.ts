import { refusal } from './errors.ts'

// Decimals of currencies by ISO 4217, as its maintenance agency publishes them (SIX, list one of 25 June 2024, with XCG of
// 2025, and HRK, SLL and ZWL, which it had withdrawn lately). Frozen: amounts are stored in minor units, so another number
// would make every stored amount of a currency worth ten times more or less. Never from `Intl`, which follows usage and
// differs between releases of Node. A new currency may be added; one that is here stays as it is (DECISIONS 58).
const codesByDecimals: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF
    CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ
    GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD
    MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD
    RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH
    USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG ZWL`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

/** Number of decimals of each currency of ISO 4217, by its code. */
export const isoDecimals: ReadonlyMap<string, number> = new Map(
  Object.entries(codesByDecimals).flatMap(([decimals, codes]) =>
    Array.from(codes.matchAll(/[A-Z]{3}/g), ([code]): [string, number] => [code, Number(decimals)]),
  ),
)

/** Number of decimals of a currency: 2 for EUR, 0 for JPY (ISO 4217). A code that no organization can have, which
 *  only a provider could send, counts as one with 2. */
export const decimalsOf = (currency: string): number => isoDecimals.get(currency) ?? 2

/** Converts minor to major units, as in JSON: 1050 is 10.5 in EUR and 1050 in JPY (DECISIONS, amounts). */
export const toMajor = (minor: number, currency: string): number => minor / 10 ** decimalsOf(currency)

/** Amount of a currency, as a decimal number in major units. */
export type Money = { amount: string; currency: string }

/** Writes an amount as a decimal number in major units, with all decimals of its currency: 1050 is `10.50` in EUR and
 *  `1050` in JPY. */
export function toDecimal(minor: number, currency: string): string {
  const decimals = decimalsOf(currency)
  const digits = String(minor)
  if (decimals === 0) return digits
  if (minor < 0) return `-${toDecimal(-minor, currency)}`
  const padded = digits.length > decimals ? digits : digits.padStart(decimals + 1, '0')
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
}

/** Converts minor units to an amount of a currency. */
export const toMoney = (minor: number, currency: string): Money => ({
  amount: toDecimal(minor, currency),
  currency,
})

/** Converts major units, as in JSON, to minor units. */
export const toMinor = (major: number, currency: string): number =>
  Math.round(major * 10 ** decimalsOf(currency))

/** Number of decimals of amounts that are charged: no provider takes thousandths of a currency, nor hundredths of an
 *  ariary, which has none (DECISIONS 61). */
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

/** Converts an amount that a client gave to minor units of its own currency. Refuses: INVALID, for another
 *  currency, for a negative amount, and for one that can't be charged, with the path of what is wrong. */
export function requireAmount(given: Money, currency: string, path: (string | number)[]): number {
  if (given.currency !== currency)
    throw refusal('INVALID', `currency must be ${currency}.`, [...path, 'currency'])
  const at = [...path, 'amount']
  if (given.amount.startsWith('-')) throw refusal('INVALID', 'amount must be at least 0.', at)
  const [whole = '', fraction = ''] = given.amount.split('.')
  const decimals = decimalsOf(currency)
  const minor = Number(whole + fraction.padEnd(decimals, '0'))
  if (fraction.length > decimals || minor % smallestCharge(currency) !== 0)
    throw refusal('INVALID', `amount ${amountMistake(currency)}`, at)
  if (!Number.isSafeInteger(minor)) throw refusal('INVALID', 'amount is too high.', at)
  return minor
}

/** Compares an amount in minor units with one in major units: negative if it is lower, positive if higher, 0 if they
 *  are the same. */
export function compareTotal(minor: number, major: number, currency: string): number {
  const difference = toMajor(minor, currency) - major
  return Math.abs(difference) <= tolerance ? 0 : difference
}

// A percentage has at most four decimals, so it is an integer number of millionths.
const perMillion = 1_000_000

/** Computes a percentage of an amount in minor units, rounded half up once to a multiple of `step`, in integers
 *  (DECISIONS, amounts). */
export function percentageOf(minor: number, percentage: number, step = 1): number {
  const rate = Math.round(percentage * 10_000)
  const unit = perMillion * step
  const doubled = 2 * minor * rate + unit
  // Exact, as the whole part of a quotient of safe integers is.
  if (doubled <= Number.MAX_SAFE_INTEGER) return Math.trunc(doubled / (2 * unit)) * step
  const bigUnit = BigInt(unit)
  return Number((2n * BigInt(minor) * BigInt(rate) + bigUnit) / (2n * bigUnit)) * step
}
