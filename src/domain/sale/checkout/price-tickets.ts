import { percentageOf } from '../../../shared/money.ts'
import type { SoldSupplement } from '../../ticket/table.ts'
import type { Price } from '../../ticket-rate/table.ts'
import type { CheckoutEntry } from './checkout-input.ts'
import type { Terms } from './terms-loaders.ts'

/** A ticket as it will be sold. Amounts in minor units. */
export type PricedTicket = {
  entry: CheckoutEntry
  price: Price
  supplements: SoldSupplement[]
  priceAmount: number
  supplementsAmount: number
  /** What the organization puts on top of the price. */
  organizationFeeAmount: number
  /** What the platform keeps from the organization: no part of the total. */
  platformFeeAmount: number
  warrantyAmount: number
  warrantyHours: number
  totalAmount: number
}

/** Prices one ticket from the rate's own rows, never from what the client says. Percentages are rounded half up, once
 *  per ticket and part. Supplements are those of the rate; the entry was checked before (DECISIONS 1 and 4). */
export function priceTicket(
  entry: CheckoutEntry,
  price: Price,
  { rate, supplements, organization }: Terms,
): PricedTicket {
  const chosen = (entry.supplements ?? []).flatMap(({ supplementId }) =>
    supplements.filter((supplement) => supplement.id === supplementId),
  )
  const supplementsAmount = chosen.reduce((sum, supplement) => sum + supplement.amount, 0)
  const organizationFeeAmount =
    price.feeType === 'fixed' ? price.feeQuantity : percentageOf(price.amount, price.feeQuantity)
  const warrantyAmount = entry.warranty
    ? percentageOf(price.amount + supplementsAmount, rate.warrantyPercentage)
    : 0
  return {
    entry,
    price,
    supplements: chosen.map(({ id, label, amount, hasFakePrice, fakeAmount }) => ({
      supplementId: id,
      label,
      amount,
      hasFakePrice,
      fakeAmount,
    })),
    priceAmount: price.amount,
    supplementsAmount,
    organizationFeeAmount,
    platformFeeAmount: percentageOf(price.amount, organization.platformFeePercentage),
    warrantyAmount,
    warrantyHours: entry.warranty ? rate.warrantyHours : 0,
    totalAmount: price.amount + supplementsAmount + organizationFeeAmount + warrantyAmount,
  }
}
