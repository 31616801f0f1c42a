import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { eq, sql } from 'drizzle-orm'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { aCatalogue, anEvent, aRateNamed, aSupplement } from '../support/factories.ts'
import { movePayments } from '../support/queued-payments.ts'
import { sharedSale } from '../support/sale.ts'
import { holdTickets } from '../support/tickets.ts'
import { openBrowser, openPage } from './browser.ts'

const cloakroom = aSupplement({ label: 'Cloakroom and a place for a very long umbrella' })
const catalogue = aCatalogue({
  events: [
    anEvent({
      name: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
      ticket_rates: [aRateNamed('1', { supplements: [cloakroom] })],
    }),
  ],
})

let shop: Server
let shopUrl: string
let browser: Browser
const sale = sharedSale(catalogue, { listen: true })
beforeAll(async () => {
  // The shop, on another origin.
  shop = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<title>Shop</title><h1>Back in the shop</h1><p>${encodeURI(url)}</p>`)
  }).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const address = shop.address()
  shopUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  shop?.close()
})

const checkOut = (count = 1, more = {}) =>
  holdTickets(sale, {
    count,
    entry: { supplements: [{ supplement_id: cloakroom._id }] },
    redirect_url: `${shopUrl}/thanks?order=7`,
    error_url: `${shopUrl}/sorry`,
    ...more,
  })

const phone: BrowserContextOptions = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true }

test.each([
  ['with JavaScript', {}],
  ['without JavaScript', { javaScriptEnabled: false }],
  ['on a phone', phone],
])('paying ends on redirect_url, %s', async (_name, options) => {
  const { payment_id, payment_url } = await checkOut(2)
  const { page, close } = await openPage(browser, sale.url, options)
  await page.goto(payment_url)
  await page.getByRole('button', { name: 'Pay €49.00' }).click()
  await page.getByRole('heading', { name: 'Back in the shop' }).waitFor()
  expect(page.url()).toBe(`${shopUrl}/thanks?order=7&payment_id=${payment_id}&status=paid`)
  await page.goto(payment_url)
  expect(page.url()).toContain(`${shopUrl}/thanks`)
  await close()
})

test('cancelling ends on error_url', async () => {
  const { payment_id, payment_url } = await checkOut()
  const { page, close } = await openPage(browser, sale.url, { javaScriptEnabled: false })
  await page.goto(payment_url)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Back in the shop' }).waitFor()
  expect(page.url()).toBe(`${shopUrl}/sorry?payment_id=${payment_id}&status=cancelled&code=PAYMENT_CANCELLED`)
  await close()
})

test('the page redirects by itself when the payment expires', async () => {
  const { payment_id, payment_url } = await checkOut()
  const { page, close } = await openPage(browser, sale.url, { javaScriptEnabled: false })
  // Long enough for a slow browser to show the page first.
  await movePayments(sale.db, eq(payments.id, payment_id), { expiresAt: sql`now() + interval '10 seconds'` })
  await page.goto(payment_url)
  await page.getByText('less than a minute left').waitFor()
  await page.getByRole('heading', { name: 'Back in the shop' }).waitFor()
  expect(page.url()).toBe(`${shopUrl}/sorry?payment_id=${payment_id}&status=expired&code=PAYMENT_EXPIRED`)
  await close()
})

test('without redirect URLs the page shows the outcome, without console errors', async () => {
  const { payment_url } = await checkOut(1, { redirect_url: null, error_url: null })
  const { page, complaints, close } = await openPage(browser, sale.url)
  await page.goto(payment_url)
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  expect(complaints).toEqual([])
  await close()
})

test.each([
  [320, 640],
  [390, 844],
  [1280, 800],
])('the page fits a viewport of %i by %i, with Pay in view', async (width, height) => {
  const { payment_url } = await checkOut(20)
  const { page, close } = await openPage(browser, sale.url, { viewport: { width, height } })
  await page.goto(payment_url)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  const button = await page.getByRole('button', { name: /^Pay/ }).boundingBox()
  expect((button?.y ?? height) + (button?.height ?? 0)).toBeLessThanOrEqual(height)
  expect(button?.height).toBeGreaterThanOrEqual(44)
  await close()
})
