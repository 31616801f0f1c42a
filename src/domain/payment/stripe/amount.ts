import { decimalsOf } from '../../../shared/money.ts'

// Stripe's own decimals, which are not always ISO's (docs.stripe.com/currencies). ISK and UGX have two, which are 00.
const whole = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
const thousandths = new Set('BHD JOD KWD OMR TND'.split(' '))

function stripeDecimalsOf(currency: string): number {
  if (whole.has(currency)) return 0
  return thousandths.has(currency) ? 3 : 2
}

/** Minor units as Stripe counts them. */
export const toStripe = (minor: number, currency: string): number =>
  Math.round(minor * 10 ** (stripeDecimalsOf(currency) - decimalsOf(currency)))

/** Stripe's minor units as we count them. Part of one of ours is none: an amount is never taken for more than it is. */
export const fromStripe = (amount: number, currency: string): number =>
  Math.floor((amount * 10 ** decimalsOf(currency)) / 10 ** stripeDecimalsOf(currency))
