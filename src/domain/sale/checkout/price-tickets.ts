import { percentageOf, smallestCharge } from '../../../shared/money.ts'
import type { SoldSupplement } from '../../ticket/table.ts'
import { feeOf } from '../../ticket-rate/current-price.ts'
import type { Price } from '../../ticket-rate/table.ts'
import type { CheckoutEntry } from './checkout-input.ts'
import type { Terms } from './terms-loaders.ts'

/** Ticket as it will be sold. Amounts in minor units. */
export type PricedTicket = {
  entry: CheckoutEntry
  /** ISO 639-1 code of the attendee's own language; null for that of the whole checkout. */
  language: string | null
  price: Price
  supplements: SoldSupplement[]
  /** Price before the discount. */
  priceAmount: number
  discountId: string | null
  discountAmount: number
  supplementsAmount: number
  /** Fee the organization adds to the price. */
  organizationFeeAmount: number
  /** Commission the platform keeps from the organization; not part of the total. */
  platformFeeAmount: number
  warrantyAmount: number
  warrantyHours: number
  totalAmount: number
}

/** Prices one ticket from the rate's rows, never from client input. The discount comes off the price first:
 *  fees, commission and warranty follow from what is left, but a fixed fee stays. Percentages round half up,
 *  once per ticket and component. Requires an entry that checkEntries accepts (DECISIONS 1, 4 and 9). */
export function priceTicket(
  entry: CheckoutEntry,
  price: Price,
  { rate, supplements, organization }: Terms,
  discount: { id: string | null; amount: number },
): PricedTicket {
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
    language: null,
    price,
    supplements: chosen.map(
      ({ id, label, description, productQuantity, amount, hasFakePrice, fakeAmount }) => ({
        supplementId: id,
        label,
        description,
        productQuantity,
        used: 0,
        amount,
        hasFakePrice,
        fakeAmount,
      }),
    ),
    priceAmount: price.amount,
    discountId: discount.amount > 0 ? discount.id : null,
    discountAmount: discount.amount,
    supplementsAmount,
    organizationFeeAmount,
    platformFeeAmount: percentageOf(discounted, organization.platformFeePercentage, step),
    warrantyAmount,
    warrantyHours: entry.warranty ? rate.warrantyHours : 0,
    totalAmount: discounted + supplementsAmount + organizationFeeAmount + warrantyAmount,
  }
}
