import { eq } from 'drizzle-orm'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import type { Checkout } from '../support/checkouts.ts'
import { aCatalogue, anEvent, aRateOf } from '../support/factories.ts'
import { shared } from '../support/harness.ts'
import { openStripeSale } from '../support/stripe-sale.ts'
import { openBrowser, openPage } from './browser.ts'

// A buyer in a browser who pays at Stripe and returns before the outcome is known.

let browser: Browser
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] })
const sale = shared(() => openStripeSale(catalogue, { listen: true }))
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const checkOut = () => sale.checkOut({ redirect_url: null, error_url: null })
const sessionOf = ({ payment_id }: Checkout) => sale.fake.sessionFor(payment_id)
const statusOf = async ({ payment_id }: Checkout) => {
  const [row] = await sale.db.select().from(payments).where(eq(payments.id, payment_id))
  return row?.status
}

test.each([
  ['with JavaScript', {}],
  ['without JavaScript, on a phone', { ...phone, javaScriptEnabled: false }],
])('paying at Stripe ends with tickets, %s', async (_name, options) => {
  const checkout = await checkOut()
  const { page, close } = await openPage(browser, sale.url, options)
  await page.goto(checkout.payment_url)
  await page.getByRole('button', { name: 'Pay €22.00' }).click()
  await page.getByRole('heading', { name: 'Stripe' }).waitFor()
  await page.getByRole('button', { name: 'Pay there' }).click()
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  expect(await statusOf(checkout)).toBe('paid')
  await close()
})

test('a buyer who returns early sees a waiting page that updates by itself', async () => {
  const checkout = await checkOut()
  const { page, complaints, close } = await openPage(browser, sale.url, {
    ...phone,
    javaScriptEnabled: false,
  })
  await sale.goToStripe(checkout)
  sale.fake.pay(sessionOf(checkout).id)
  sale.fake.setFault('cut')
  await page.goto(`${checkout.payment_url}?paid`)
  await page.getByRole('heading', { name: 'One moment' }).waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  sale.fake.setFault(null)
  await sale.deliver(...sale.fake.events.slice(-1))
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  expect(complaints).toEqual([])
  await close()
})

test('a buyer can return to the payment while Stripe is down, and pay once it is up', async () => {
  const checkout = await checkOut()
  const { page, close } = await openPage(browser, sale.url, { javaScriptEnabled: false })
  await page.goto(checkout.payment_url)
  sale.fake.setFault('cut')
  await page.getByRole('button', { name: 'Pay €22.00' }).click()
  await page.getByRole('heading', { name: 'We are busy' }).waitFor()
  sale.fake.setFault(null)
  await page.getByRole('link', { name: 'Back to the payment' }).click()
  await page.getByRole('button', { name: 'Pay €22.00' }).click()
  await page.getByRole('heading', { name: 'Stripe' }).waitFor()
  await close()
})
