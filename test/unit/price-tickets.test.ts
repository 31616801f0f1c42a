import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Discount } from '../../src/domain/discount/table.ts'
import { discountAmountsOf, priceTicket } from '../../src/domain/sale/checkout/price-tickets.ts'
import type { Terms } from '../../src/domain/sale/checkout/terms-loaders.ts'
import type { Ticket } from '../../src/domain/ticket/table.ts'
import { raised } from '../../src/domain/ticket/views.ts'
import type { Price } from '../../src/domain/ticket-rate/table.ts'
import { compareTotal, isAmount, smallestCharge, toMajor } from '../../src/engine/base/money.ts'

// Sums of any ticket, in currencies of 0, 2 and 3 decimals, beside an oracle in exact fractions.

const currencies = ['JPY', 'EUR', 'KWD', 'MGA', 'LYD']

/** Nearest multiple of `step` to a percentage of an amount, halves up. The percentage is in ten-thousandths. */
const nearest = (amount: number, tenThousandths: number, step: number): number => {
  const [exact, unit] = [BigInt(amount) * BigInt(tenThousandths), 1_000_000n * BigInt(step)]
  const [whole, rest] = [exact / unit, exact % unit]
  return Number(rest * 2n >= unit ? whole + 1n : whole) * step
}

const percentage = fc.nat({ max: 1_000_000 })
const ticket = fc.record({
  currency: fc.constantFrom(...currencies),
  price: fc.nat({ max: 10 ** 9 }),
  supplements: fc.array(fc.nat({ max: 10 ** 7 }), { maxLength: 4 }),
  fee: fc.record({ isFixed: fc.boolean(), quantity: percentage }),
  discount: fc.option(fc.record({ isFixed: fc.boolean(), quantity: percentage })),
  warranty: fc.option(percentage),
  commission: percentage,
  refunded: fc.double({ min: 0, max: 1, noNaN: true }),
})

test('sums of a ticket are exact, and each part can be charged', () => {
  fc.assert(
    fc.property(ticket, (given) => {
      const { currency } = given
      const step = smallestCharge(currency)
      const quantityOf = ({ isFixed, quantity }: { isFixed: boolean; quantity: number }) =>
        isFixed ? quantity * step : quantity / 10_000
      const price = {
        amount: given.price * step,
        currency,
        feeType: given.fee.isFixed ? 'fixed' : 'percentage',
        feeQuantity: quantityOf(given.fee),
      } as Price
      const discount =
        given.discount &&
        ({
          percentage: given.discount.isFixed ? null : quantityOf(given.discount),
          amount: given.discount.isFixed ? quantityOf(given.discount) : null,
          maxPerCheckout: 1,
        } as Discount)
      const supplements = given.supplements.map((amount, index) => ({
        id: `sup_${index}`,
        amount: amount * step,
      }))
      const terms = {
        rate: {
          warrantyPercentage: (given.warranty ?? 0) / 10_000,
          warrantyHours: 1,
          platformFeePercentage: given.commission / 10_000,
        },
        supplements,
      } as unknown as Terms
      const entry = {
        priceId: 'price_1',
        fullName: 'Ana',
        email: 'ana@example.com',
        warranty: given.warranty !== null,
        supplements: supplements.map(({ id }) => ({ supplementId: id })),
      }
      // The second ticket has no discount left.
      const [off = 0, none] = discountAmountsOf(discount, [price, price])
      const sold = priceTicket(entry, price, terms, { id: 'disc_1', amount: off })

      const wanted = given.discount
        ? given.discount.isFixed
          ? given.discount.quantity * step
          : nearest(price.amount, given.discount.quantity, step)
        : 0
      expect([off, none]).toEqual([Math.min(price.amount, wanted), off === 0 ? (none ?? 0) : 0])
      const discounted = price.amount - off
      const extras = supplements.reduce((sum, { amount }) => sum + amount, 0)
      const parts = {
        priceAmount: price.amount,
        discountAmount: off,
        supplementsAmount: extras,
        organizationFeeAmount: given.fee.isFixed
          ? given.fee.quantity * step
          : nearest(discounted, given.fee.quantity, step),
        platformFeeAmount: nearest(discounted, given.commission, step),
        warrantyAmount: nearest(discounted + extras, given.warranty ?? 0, step),
      }
      expect(sold).toMatchObject(parts)
      const total = discounted + extras + parts.organizationFeeAmount + parts.warrantyAmount
      expect(sold.totalAmount).toBe(total)
      for (const amount of [...Object.values(parts), total])
        expect(isAmount(toMajor(amount, currency), currency)).toBe(true)
      // A client that adds up in floating point finds the same total, and no smaller or larger one.
      const major = (minor: number) => toMajor(minor, currency)
      const added = [price.amount - off, extras, parts.organizationFeeAmount, parts.warrantyAmount].map(major)
      const seen = added.reduce((sum, amount) => sum + amount, 0)
      expect(compareTotal(total, seen, currency)).toBe(0)
      expect(compareTotal(total + step, seen, currency)).toBeGreaterThan(0)
      expect(compareTotal(total - step, seen, currency)).toBeLessThan(0)
      // What the organization keeps is what sales add up: gross - discounts - fees - refunded.
      const refundedAmount = Math.floor(given.refunded * (total / step)) * step
      const kept = raised({ ...sold, refundedAmount, activatedAt: new Date() } as unknown as Ticket)
      const commission = Math.min(parts.platformFeeAmount, total - refundedAmount)
      expect(kept).toBe(total + off - off - commission - refundedAmount)
    }),
    { numRuns: 3_000 },
  )
})
