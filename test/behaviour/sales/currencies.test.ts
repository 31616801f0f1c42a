// Runs in: postgres, slow-forms

import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { type Amount, money } from '../../support/contract-input.ts'
import { anEvent, anOrganization, aPrice, aRate } from '../../support/factories.ts'
import { refundTicket } from '../../support/refunds.ts'
import { openSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { payFor, ticketOf } from '../../support/tickets.ts'

// Sums that the organizer is shown, beside what buyers paid and got back in the digits that they were shown.

const amounts = ['gross', 'commission', 'refunded', 'net'] as const
const fields = `${amounts.map((name) => `${name} { amount currency }`).join(' ')}`
type Sums = Record<(typeof amounts)[number], Amount>

test.each([
  ['JPY', 0, 1],
  ['EUR', 2, 1],
  // Two of its decimals can be charged.
  ['KWD', 3, 10],
])(
  'sums of sales in %s, of %i decimals, are exactly what buyers paid and got back',
  async (currency, decimals, step) => {
    const exact = (amount: number | string) =>
      BigInt((typeof amount === 'string' ? amount : amount.toFixed(decimals)).replace('.', ''))
    const toMajor = (minor: number) => minor / 10 ** decimals
    const minors = [1, 7, 10 ** decimals * 10 - 1, 10 ** decimals * 33_333 + 3]
    const prices = minors.map((minor, index) =>
      aPrice({
        _id: `price_${index}`,
        name: `Price ${index}`,
        price: toMajor(minor * step),
        fee_type: 'fixed',
        fee_quantity: 0,
      }),
    )
    const event = anEvent({
      _id: 'evt_1',
      ticket_rates: [aRate({ _id: 'rate_1', prices, availability: { sold: 0, available: 10_000 } })],
    })
    const organization = anOrganization({ currency, platform_fee_percentage: 3.3333 })
    const sale = await openSale({ organizations: [organization], events: [event], provider: stubProvider() })
    onTestFinished(() => sale.close())

    let [paid, refunded] = [0n, 0n]
    const aPurchase = fc.record({
      prices: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }),
      share: fc.option(fc.integer({ min: 1, max: 100 })),
    })
    const property = fc.asyncProperty(aPurchase, async ({ prices, share }) => {
      const checkout = await mustCheckOut(sale, {
        ticket_rate_id: 'rate_1',
        tickets: prices.map((index) => anEntry(`price_${index}`)),
      })
      await payFor(sale, checkout)
      paid += exact(checkout.total_amount)
      const [total = 0] = checkout.tickets.map(({ total_price }) => total_price)
      const part = share === null ? 0 : Math.ceil((Number(exact(total)) * share) / 100 / step) * step
      if (part > 0) {
        refunded += BigInt(part)
        await refundTicket(sale, ticketOf(checkout), {
          amount: money(toMajor(part), currency, decimals),
        })
      }
      const { data } = await sale.graphql<{ event: { sales: { nodes: Sums[] } } }>(
        `{ event(by: { id: "evt_1" }) { sales(groupBy: SALE_TYPE) { nodes { ${fields} } } } }`,
        {},
        sale.integration.v2,
      )
      const [sums] = data?.event.sales.nodes ?? []
      // The digits of the currency, and no others.
      const digits = decimals === 0 ? /^\d+$/ : new RegExp(`^\\d+\\.\\d{${decimals}}$`)
      const [gross = 0n, commission = 0n, back = 0n, net = 0n] = amounts.map((name) => {
        expect(sums?.[name]).toEqual({ amount: expect.stringMatching(digits), currency })
        return exact(sums?.[name].amount ?? '')
      })
      expect([gross, back]).toEqual([paid, refunded])
      expect(net + commission).toBe(paid - refunded)
    })
    await fc.assert(property, {
      numRuns: 12,
      endOnFailure: true,
      examples: [[{ prices: [0, 3], share: 50 }]],
    })
    expect(refunded).toBeGreaterThan(0n)
  },
)
