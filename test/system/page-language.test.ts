import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anEntry, mustCheckOut } from '../support/checkouts.ts'
import {
  aCatalogue,
  aLocation,
  anEvent,
  anOrganization,
  aRateNamed,
  aSupplement,
} from '../support/factories.ts'
import { sharedSale } from '../support/sale.ts'
import { openBrowser, openPage } from './browser.ts'

// Payment page and outcome on a phone, in three languages. `SCREENSHOTS` names a folder for pictures of them.

const catalogue = aCatalogue({
  organizations: [
    anOrganization({
      name: 'Sala Ñ',
      language: 'es',
      discounts: [{ _id: 'dis_1', code: 'SUMMER', name: 'Summer nights', percentage: 15 }],
    }),
  ],
  locations: [aLocation({ address: 'Gran Vía, 1' })],
  events: [
    anEvent({
      name: 'Noche de Ñandú',
      start_date: '2099-07-11T22:30:00.000Z',
      end_date: '2099-07-12T04:00:00.000Z',
      ticket_rates: [
        aRateNamed(
          '1',
          {
            supplements: [aSupplement({ _id: 'sup_1' })],
            warranty: { enabled: true, percentage: 10, hours: 48 },
          },
          { name: 'Early' },
        ),
      ],
    }),
  ],
})

let browser: Browser
const sale = sharedSale(catalogue, { listen: true })
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const phone: BrowserContextOptions = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

const checkOut = (more = {}) => {
  const entry = anEntry('price_1', { supplements: [{ supplement_id: 'sup_1' }], warranty: true })
  const tickets = [entry, entry]
  return mustCheckOut(sale, {
    ...{ ticket_rate_id: 'rate_1', tickets, discount_code: 'summer', send_resourcers: true },
    ...more,
  })
}

const folder = process.env.SCREENSHOTS

test.each([
  [
    'es',
    'es-MX',
    { pay: /^Pagar 46,30\s€$/, paid: 'Pagado', ticket: 'Entrada 2: Early', to: 'van de camino a' },
  ],
  [
    'de',
    'de-AT',
    { pay: /^46,30\s€ zahlen$/, paid: 'Bezahlt', ticket: 'Ticket 2: Early', to: 'unterwegs an' },
  ],
  ['en', 'en-US', { pay: /^Pay €46\.30$/, paid: 'Paid', ticket: 'Ticket 2: Early', to: 'on their way to' }],
])('payment page and outcome are in %s for a phone in %s', async (language, locale, told) => {
  const { payment_url } = await checkOut()
  const options = { ...phone, locale, javaScriptEnabled: false }
  const { page, complaints, close } = await openPage(browser, sale.url, options)
  const look = async (name: string) => {
    expect(await page.locator('html').getAttribute('lang')).toBe(language)
    const { width } = (await page.locator('main').boundingBox()) ?? { width: 0 }
    expect(width).toBeLessThanOrEqual(360)
    if (folder) await page.screenshot({ path: `${folder}/${name}-${language}.png`, fullPage: true })
  }
  await page.goto(payment_url)
  await look('pay')
  await page.getByRole('button', { name: told.pay }).click()
  await page.getByRole('heading', { name: told.paid, exact: true }).waitFor()
  await page.getByText(told.to).waitFor()
  await look('paid')
  const link = page.getByRole('link', { name: told.ticket })
  const document = await page.request.get((await link.getAttribute('href')) ?? '')
  expect(document.headers()['content-type']).toBe('application/pdf')
  expect(complaints).toEqual([])
  await close()
})

test('the clock counts down without JavaScript', async () => {
  const { payment_url } = await checkOut()
  const { page, close } = await openPage(browser, sale.url, {
    ...phone,
    locale: 'de',
    javaScriptEnabled: false,
  })
  await page.goto(payment_url)
  // Chromium tells the text of counters to screen readers only: the numbers that they show are read.
  const secondsLeft = () =>
    page.locator('.clock').evaluate((clock) => {
      const style = getComputedStyle(clock)
      const [left, minutes] = ['--left', '--minutes'].map((name) => Number(style.getPropertyValue(name)))
      return { left, minutes, shown: getComputedStyle(clock, '::after').content }
    })
  const before = await secondsLeft()
  expect(before.left).toBeGreaterThan(800)
  expect(before.minutes).toBe(Math.floor((before.left ?? 0) / 60))
  expect(before.shown).toContain('counter(minutes)')
  await expect.poll(async () => (await secondsLeft()).left ?? 0).toBeLessThan((before.left ?? 0) - 1)
  await close()
})
