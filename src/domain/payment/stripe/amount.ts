import { decimalsOf } from '../../../shared/money.ts'

// Stripe's decimals differ from ISO 4217 for some currencies (docs.stripe.com/currencies). ISK and UGX have
// two, always 00.
const zeroDecimals = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
const threeDecimals = new Set('BHD JOD KWD OMR TND'.split(' '))

function stripeDecimalsOf(currency: string): number {
  if (zeroDecimals.has(currency)) return 0
  return threeDecimals.has(currency) ? 3 : 2
}

/** Converts ISO minor units to Stripe's. */
export const toStripe = (minor: number, currency: string): number =>
  Math.round(minor * 10 ** (stripeDecimalsOf(currency) - decimalsOf(currency)))

/** Converts Stripe's minor units to ISO's. Rounds down, so that an amount never counts for more than it
 *  is. */
export const fromStripe = (amount: number, currency: string): number =>
  Math.floor((amount * 10 ** decimalsOf(currency)) / 10 ** stripeDecimalsOf(currency))
