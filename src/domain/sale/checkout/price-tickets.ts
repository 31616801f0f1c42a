import { percentageOf } from '../../../shared/money.ts'
import type { SoldSupplement } from '../../ticket/table.ts'
import type { Price } from '../../ticket-rate/table.ts'
import type { CheckoutEntry } from './checkout-input.ts'
import type { Terms } from './terms-loaders.ts'

/** Ticket as it will be sold. Amounts in minor units. */
export type PricedTicket = {
  entry: CheckoutEntry
  price: Price
  supplements: SoldSupplement[]
  priceAmount: number
  supplementsAmount: number
  /** Fee the organization adds to the price. */
  organizationFeeAmount: number
  /** Commission the platform keeps from the organization; not part of the total. */
  platformFeeAmount: number
  warrantyAmount: number
  warrantyHours: number
  totalAmount: number
}

/** Prices one ticket from the rate's rows, never from client input. Percentages round half up, once per
 *  ticket and component. Requires an entry that checkEntries accepts (DECISIONS 1 and 4). */
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
