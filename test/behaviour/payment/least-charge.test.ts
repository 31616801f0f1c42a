// Runs in: postgres

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../../src/domain/payment/table.ts'
import { sellAtBoxOffice } from '../../support/box-office.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { commandRunner } from '../../support/commands.ts'
import { aDiscount } from '../../support/discounts.ts'
import { aCatalogue, anEvent, anOrganization, aPrice, aRate } from '../../support/factories.ts'
import { inTestMode } from '../../support/modes.ts'
import { openStripeSale, type StripeSale } from '../../support/stripe-sale.ts'
import { stripeSettings } from '../../support/stub-stripe.ts'

// Totals that Stripe can't charge: less than 0.50 euros, and not 0.

const fee = (name: string, price: number, fee_quantity: number) =>
  aRate({
    _id: `rate_${name}`,
    prices: [aPrice({ _id: `price_${name}`, price, fee_type: 'fixed', fee_quantity })],
  })
const all = aDiscount({ _id: 'dsc_all', code: 'ALL', percentage: 100, amount: null })
const catalogue = aCatalogue({
  organizations: [anOrganization({ discounts: [all] })],
  events: [anEvent({ ticket_rates: [fee('1', 20, 0.39), fee('free', 20, 0), fee('least', 20, 0.5)] })],
})

const lines: string[] = []
let sale: StripeSale
beforeAll(async () => {
  sale = await openStripeSale(catalogue, {
    settings: { LOG_LEVEL: 'warn' },
    onLog: (line) => lines.push(line),
  })
})
afterAll(() => sale.close())

const body = (name: string) => ({
  ticket_rate_id: `rate_${name}`,
  tickets: [anEntry(`price_${name}`)],
  discount_code: 'all',
})
const quote = async (name: string, headers = sale.channel) => {
  const { data, errors } = await sale.graphql<{
    quoteCheckout: { amounts?: { total: object }; errors?: object[] }
  }>(
    `query ($input: QuoteCheckoutInput!) { quoteCheckout(input: $input) {
      ... on CheckoutQuote { amounts { total { amount } } }
      ... on Refused { errors { code path ... on AmountError { amount { amount currency } } } } } }`,
    {
      input: {
        items: [{ ticketRateId: `rate_${name}`, tickets: [{ priceId: `price_${name}` }] }],
        discountCode: 'all',
      },
    },
    headers,
  )
  expect(errors).toBeUndefined()
  return data?.quoteCheckout.errors ?? data?.quoteCheckout.amounts?.total
}

test('a quote and a checkout refuse a total that the provider does not charge, and take 0 and the least', async () => {
  const amount = { amount: '0.50', currency: 'EUR' }
  expect(await quote('1')).toEqual([{ code: 'TOTAL_TOO_LOW', path: null, amount }])
  const refused = await checkOut(sale, body('1'))
  expect(refused.statusCode).toBe(422)
  expect(refused.json()).toMatchObject({ code: 'TOTAL_TOO_LOW', errors: [{ least_amount: 0.5 }] })
  expect(await quote('free')).toEqual({ amount: '0.00' })
  expect((await checkOut(sale, body('free'))).statusCode).toBe(200)
  expect(await quote('least')).toEqual({ amount: '0.50' })
  const paid = await checkOut(sale, body('least'))
  await sale.goToStripe(paid.json().data)
})

test('the box office and test sales take any amount', async () => {
  const sold = await sellAtBoxOffice(sale, {
    ticketRateId: 'rate_1',
    tickets: [{ priceId: 'price_1', fullName: 'Ana', email: 'ana@example.com' }],
    discountCode: 'all',
  })
  expect(sold.errors).toBeUndefined()
  expect(await quote('1', (await inTestMode(sale)).channel)).toEqual({ amount: '0.39' })
})

test('an import warns of tickets that may cost too little', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-'))
  const file = join(folder, 'catalogue.json')
  await writeFile(file, JSON.stringify(catalogue))
  const { json } = commandRunner(() => sale.database, { settings: stripeSettings(sale.fake.url) })
  type Answer = { warnings: { code: string; id: string; message: string }[] }
  const { warnings } = await json<Answer>('import', '--plan', file).finally(() =>
    rm(folder, { recursive: true }),
  )
  expect(warnings.map(({ code, id, message }) => `${code} ${id}: ${message}`)).toEqual([
    "TOO_CHEAP price_1: a ticket at 0.39 EUR can't be paid: the least is 0.50",
  ])
})

test('an amount that the provider refuses all the same fails the payment, and the log says why', async () => {
  const { data: checkout } = (await checkOut(sale, body('least'))).json()
  await sale.db.update(payments).set({ totalAmount: 49 }).where(eq(payments.id, checkout.payment_id))
  await sale.buyer.pay(checkout)
  const [payment] = await sale.db.select().from(payments).where(eq(payments.id, checkout.payment_id))
  expect(payment?.status).toBe('failed')
  expect(lines.join('\n')).toMatch(/"code":"amount_too_small"/)
})
