// Runs in: postgres, slow-forms

import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { prices } from '../../../src/domain/ticket-rate/table.ts'
import { anEntry } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, anOrganization, aRateNamed } from '../../support/factories.ts'
import { shared } from '../../support/harness.ts'
import { importMistakes } from '../../support/imports.ts'
import { openStripeSale } from '../../support/stripe-sale.ts'

// Kuwaiti dinars have three decimals, of which Stripe takes two.

const name = `${'x'.repeat(249)}🎷 and more`.slice(0, 200)
// Between the two names of what is bought stand three characters.
const rateName = `${'y'.repeat(250 - 3 - name.length - 1)}🎷🎷`
const catalogue = (price: number) =>
  aCatalogue({
    organizations: [anOrganization({ currency: 'KWD', platform_fee_percentage: 3.3333 })],
    events: [
      anEvent({
        _id: 'evt_1',
        name,
        ticket_rates: [
          aRateNamed(
            '1',
            { name: rateName, warranty: { enabled: true, percentage: 3.33, hours: 0 } },
            { price, fee_quantity: 7.77 },
          ),
        ],
      }),
    ],
  })

const sale = shared(() => openStripeSale(catalogue(7.35)))

const checkOut = () => sale.checkOut({ tickets: [anEntry('price_1', { warranty: true })] })

test('percentages are rounded to what Stripe takes, and a name is not cut within a character', async () => {
  const checkout = await checkOut()
  // 7.77 % of 7.350 is 0.571095, 3.33 % is 0.244755, 3.3333 % is 0.24499755.
  expect(checkout.tickets).toMatchObject([
    { fees: { organization: 0.57, platform: 0.24 }, warranty: { total: 0.24 }, total_price: 8.16 },
  ])
  const session = await sale.goToStripe(checkout)
  expect([session.amount_total, session.currency]).toEqual([8160, 'kwd'])
  const asked = sale.fake.asked.find(({ path }) => path === '/v1/checkout/sessions')
  const sent = asked?.params['line_items[0][price_data][product_data][name]'] ?? ''
  expect([...sent]).toHaveLength(250)
  expect(sent.endsWith('y🎷')).toBe(true)
})

test('an import refuses a price in thousandths in plain words', async () => {
  expect(await importMistakes(sale.db, catalogue(7.355))).toEqual([
    'events.0.ticket_rates.0.prices.0.price: price must have at most 2 decimals, as what is charged in KWD has.',
  ])
})

test('a price in thousandths that was imported before fails the payment, and the buyer is told', async () => {
  await sale.db.update(prices).set({ amount: 7355 }).where(eq(prices.id, 'price_1'))
  const checkout = await checkOut()
  const { statusCode, headers } = await sale.buyer.pay(checkout)
  expect(statusCode).toBe(303)
  expect(String(headers.location)).toContain('code=PAYMENT_FAILED')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
})
