import { type Problem, problem } from '../../../shared/errors.ts'
import { percentageOf, smallestCharge } from '../../../shared/money.ts'
import type { Discount } from '../../discount/table.ts'
import { leftOf } from '../../ticket-rate/current-price.ts'
import type { Price } from '../../ticket-rate/table.ts'

const path = ['discountCode']

/** Checks that a discount exists, is valid now and is for this rate (DECISIONS 9). */
export function checkDiscount(discount: Discount | null, ticketRateId: string, now: Date): Problem[] {
  if (!discount) return [problem('DISCOUNT_UNKNOWN', 'There is no discount with this code.', path)]
  const { validFrom, validUntil, ticketRateIds } = discount
  if ((validFrom && validFrom > now) || (validUntil && validUntil <= now))
    return [
      problem('DISCOUNT_NOT_VALID', 'The discount is not valid now.', path, {
        validFrom: validFrom?.toISOString(),
        validUntil: validUntil?.toISOString(),
      }),
    ]
  return ticketRateIds.length === 0 || ticketRateIds.includes(ticketRateId)
    ? []
    : [problem('DISCOUNT_NOT_FOR_RATE', 'The discount is not for this ticket rate.', path)]
}

/** Returns the amount that a discount takes off a price, in minor units: never more than the price. A
 *  percentage rounds half up. */
export const discountOf = ({ percentage, amount }: Discount, price: Price): number =>
  Math.min(
    price.amount,
    percentage === null
      ? (amount ?? 0)
      : percentageOf(price.amount, percentage, smallestCharge(price.currency)),
  )

/** Returns the amount off each ticket, in the order of their prices. A discount applies to the first tickets
 *  that have something to take off, `maxPerCheckout` at most; the others cost the full price. */
export function discountsOf(discount: Discount | null, chosen: Price[]): number[] {
  let uses = discount?.maxPerCheckout ?? Number.POSITIVE_INFINITY
  return chosen.map((price) => {
    const amount = discount && uses > 0 ? discountOf(discount, price) : 0
    if (amount > 0) uses--
    return amount
  })
}

/** Checks that a discount has enough uses left for these amounts off. */
export function checkUses(discount: Discount | null, amounts: number[]): Problem[] {
  const available = discount && leftOf(discount)
  if (available === null || available >= amounts.filter((amount) => amount > 0).length) return []
  const message = available === 0 ? 'The discount is used up.' : `The discount has ${available} left.`
  return [problem('DISCOUNT_USED_UP', message, path, { available })]
}
