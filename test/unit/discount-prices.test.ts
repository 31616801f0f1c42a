import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Discount } from '../../src/domain/discount/table.ts'
import { checkUses, discountAmountsOf, priceTicket } from '../../src/domain/sale/checkout/price-tickets.ts'
import type { Terms } from '../../src/domain/sale/checkout/terms-loaders.ts'
import type { Price } from '../../src/domain/ticket-rate/table.ts'

// Any discount of any prices, in minor units, compared with fractions of integers.

const aPercentage = fc.integer({ min: 0, max: 1_000_000 }).map((tenThousandths) => tenThousandths / 10_000)
const anAmount = fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 10_000_000_000 }))
const uses = fc.option(fc.integer({ min: 1, max: 5 }))

const aDiscount = fc
  .record({
    off: fc.oneof(
      aPercentage.map((percentage) => ({ percentage, amount: null })),
      anAmount.map((amount) => ({ percentage: null, amount })),
    ),
    maxPerCheckout: uses,
    capacity: fc.option(fc.integer({ min: 0, max: 5 })),
  })
  .map(
    ({ off, ...limits }) =>
      ({ id: 'dsc_1', ...off, ...limits, soldBefore: 0, sold: 0, held: 0 }) as unknown as Discount,
  )

const aPrice = fc
  .record({
    amount: anAmount,
    fee: fc.oneof(
      aPercentage.map((feeQuantity) => ({ feeType: 'percentage', feeQuantity })),
      anAmount.map((feeQuantity) => ({ feeType: 'fixed', feeQuantity })),
    ),
  })
  .map(({ amount, fee }) => ({ id: 'price_1', amount, ...fee }) as unknown as Price)

const terms = fc
  .record({ warrantyPercentage: aPercentage, platformFeePercentage: aPercentage, supplement: anAmount })
  .map(
    ({ warrantyPercentage, platformFeePercentage, supplement }) =>
      ({
        rate: { warrantyPercentage, warrantyHours: 24, platformFeePercentage },
        supplements: [{ id: 'sup_1', amount: supplement }],
      }) as unknown as Terms,
  )

/** Rounds a fraction half up. */
const rounded = (minor: number, percentage: number): number => {
  const [numerator, denominator] = [BigInt(minor) * BigInt(Math.round(percentage * 10_000)), 1_000_000n]
  const rest = numerator % denominator
  return Number(numerator / denominator + (rest * 2n >= denominator ? 1n : 0n))
}

const entry = (warranty: boolean) => ({
  priceId: 'price_1',
  fullName: 'Ana',
  email: 'ana@example.com',
  supplements: [{ supplementId: 'sup_1' }],
  warranty,
})

test('any discount leaves a price between nothing and itself, and all parts follow from what is left', () => {
  const property = fc.property(
    aDiscount,
    fc.array(aPrice, { minLength: 1, maxLength: 8 }),
    terms,
    fc.boolean(),
    (discount, prices, terms, warranty) => {
      const amounts = discountAmountsOf(discount, prices)
      const tickets = prices.map((price, index) =>
        priceTicket(entry(warranty), price, terms, { id: discount.id, amount: amounts[index] ?? 0 }),
      )
      for (const ticket of tickets) {
        const { price, discountAmount, organizationFeeAmount, platformFeeAmount, warrantyAmount } = ticket
        expect(discountAmount).toBeGreaterThanOrEqual(0)
        expect(discountAmount).toBeLessThanOrEqual(price.amount)
        const left = price.amount - discountAmount
        expect(platformFeeAmount).toBe(rounded(left, terms.rate.platformFeePercentage))
        expect(organizationFeeAmount).toBe(
          price.feeType === 'fixed' ? price.feeQuantity : rounded(left, price.feeQuantity),
        )
        expect(warrantyAmount).toBe(
          warranty ? rounded(left + ticket.supplementsAmount, terms.rate.warrantyPercentage) : 0,
        )
        expect(ticket.totalAmount).toBe(
          left + ticket.supplementsAmount + organizationFeeAmount + warrantyAmount,
        )
        expect(ticket.totalAmount).toBeGreaterThanOrEqual(0)
        expect(ticket.discountId).toBe(discountAmount > 0 ? 'dsc_1' : null)
      }
    },
  )
  fc.assert(property, { numRuns: 500 })
})

test('a discount applies to the first tickets that have something to take off, and to no more than it may', () => {
  const property = fc.property(aDiscount, fc.array(aPrice, { maxLength: 8 }), (discount, prices) => {
    const { percentage, amount, maxPerCheckout } = discount
    const full = prices.map((price) =>
      Math.min(price.amount, percentage === null ? (amount ?? 0) : rounded(price.amount, percentage)),
    )
    const amounts = discountAmountsOf(discount, prices)
    let left = maxPerCheckout ?? Number.POSITIVE_INFINITY
    expect(amounts).toEqual(full.map((off) => (off > 0 && left-- > 0 ? off : 0)))
    const used = amounts.filter((off) => off > 0).length
    const isEnough = discount.capacity === null || used <= discount.capacity
    expect(checkUses(discount, amounts).map(({ code }) => code)).toEqual(isEnough ? [] : ['DISCOUNT_USED_UP'])
  })
  fc.assert(property, { numRuns: 500 })
})

test('no discount takes nothing off', () => {
  fc.assert(
    fc.property(fc.array(aPrice, { maxLength: 5 }), (prices) => {
      expect(discountAmountsOf(null, prices)).toEqual(prices.map(() => 0))
      expect(checkUses(null, [1])).toEqual([])
    }),
  )
})
