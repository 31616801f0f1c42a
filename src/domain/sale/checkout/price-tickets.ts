import type { Problem } from '../../../engine/base/errors.ts'
import { percentageOf, smallestCharge } from '../../../engine/base/money.ts'
import { problem } from '../../contract/problem-codes.ts'
import type { Discount } from '../../discount/table.ts'
import { leftOf } from '../../stock/table.ts'
import type { SoldSupplement, Ticket } from '../../ticket/table.ts'
import { feeOf } from '../../ticket-rate/sale-rules.ts'
import type { Price, Supplement } from '../../ticket-rate/table.ts'
import { readAnswer } from './check-entries.ts'
import type { CheckoutEntry } from './checkout-input.ts'
import type { Terms } from './terms-loaders.ts'

const path = ['discountCode']

/** Checks that a discount exists, is valid now and is for this rate (DECISIONS, discounts). */
export function checkDiscount(discount: Discount | null, ticketRateId: string, now: Date): Problem[] {
  if (!discount) return [problem('DISCOUNT_UNKNOWN', 'There is no discount with this code.', path)]
  const { validFrom, validUntil, ticketRateIds } = discount
  const facts = { validFrom: validFrom?.toISOString(), validUntil: validUntil?.toISOString() }
  if ((validFrom && validFrom > now) || (validUntil && validUntil <= now))
    return [problem('DISCOUNT_NOT_VALID', 'The discount is not valid now.', path, facts)]
  return ticketRateIds.length === 0 || ticketRateIds.includes(ticketRateId)
    ? []
    : [problem('DISCOUNT_NOT_FOR_RATE', 'The discount is not for this ticket rate.', path)]
}

/** Returns the amount that a discount takes off a price, in minor units: never more than the price. A
 *  percentage rounds half up. */
const discountOf = ({ percentage, amount }: Discount, price: Price): number =>
  Math.min(
    price.amount,
    percentage === null
      ? (amount ?? 0)
      : percentageOf(price.amount, percentage, smallestCharge(price.currency)),
  )

/** Returns the amount off each ticket, in the order of their prices. A discount applies to the first tickets
 *  that have something to take off, `maxPerCheckout` at most; the others cost the full price. */
export function discountAmountsOf(discount: Discount | null, chosen: Price[]): number[] {
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

function toSold(supplement: Supplement): SoldSupplement {
  const { id: supplementId, ticketRateId, position, removed, currency, ...sold } = supplement
  return { supplementId, ...sold, used: 0 }
}

/** Ticket as it will be sold. Amounts in minor units: `priceAmount` before the discount, `organizationFeeAmount` added to
 *  the price, `platformFeeAmount` kept from the organization and not part of the total. */
export type PricedTicket = ReturnType<typeof priceTicket>

/** Prices one ticket from the rate's rows, never from client input. The discount comes off the price first:
 *  fees, commission and warranty follow from what is left, but a fixed fee stays. Percentages round half up,
 *  once per ticket and component. Requires an entry that checkEntries accepts; a guest may have a language of its own
 *  (DECISIONS, amounts; DECISIONS, checkout; DECISIONS, discounts). */
export function priceTicket(
  entry: CheckoutEntry & Pick<Partial<Ticket>, 'language'>,
  price: Price,
  { rate, supplements, questions }: Terms,
  discount: { id: string | null; amount: number },
) {
  const discounted = price.amount - discount.amount
  const chosen = (entry.supplements ?? []).flatMap(({ supplementId }) =>
    supplements.filter((supplement) => supplement.id === supplementId),
  )
  const supplementsAmount = chosen.reduce((sum, supplement) => sum + supplement.amount, 0)
  const step = smallestCharge(price.currency)
  const organizationFeeAmount = feeOf(price, discounted)
  const warrantyAmount = entry.warranty
    ? percentageOf(discounted + supplementsAmount, rate.warrantyPercentage, step)
    : 0
  return {
    entry,
    price,
    currency: price.currency,
    supplements: chosen.map(toSold),
    answers: (entry.answers ?? []).flatMap(({ questionId, answer }) => {
      const question = questions.find(({ id }) => id === questionId)
      return (question && readAnswer(question, answer)) ?? []
    }),
    priceAmount: price.amount,
    discountId: discount.amount > 0 ? discount.id : null,
    discountAmount: discount.amount,
    supplementsAmount,
    organizationFeeAmount,
    platformFeeAmount: percentageOf(discounted, rate.platformFeePercentage, step),
    warrantyAmount,
    warrantyHours: entry.warranty ? rate.warrantyHours : 0,
    totalAmount: discounted + supplementsAmount + organizationFeeAmount + warrantyAmount,
  }
}
