import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowsedDemo, openDemo, openPage } from './browser.ts'

// The shop of the demo in a browser, from the service as `npm start` runs it. `SCREENSHOTS` names a folder for
// pictures of its views.

let demo: BrowsedDemo
beforeAll(async () => {
  demo = await openDemo()
})
afterAll(() => demo?.close())

const phone: BrowserContextOptions = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const pictures = process.env.SCREENSHOTS
const rate = 'rate_demo_1_1'

const openShop = (options: BrowserContextOptions = {}) =>
  openPage(demo.browser, demo.url, { locale: 'en-GB', ...options })

const eventUrl = () => `${demo.url}/shop/events/evt_demo_1`
const openEvent = async (page: Page) => {
  await page.goto(eventUrl())
  await page.locator('.live.on').waitFor()
}
const placesLeft = async (page: Page) =>
  Number.parseInt((await page.locator(`[data-rate="${rate}"] .left`).textContent()) ?? '', 10)

async function fillIn(page: Page, email = 'ana@example.com'): Promise<void> {
  await page.getByRole('radio', { name: /Entrance/ }).check()
  await page.getByLabel('Full name').first().fill('Ana Núñez')
  await page.getByLabel('E-mail').first().fill(email)
}
const buyButton = (page: Page) => page.getByRole('button', { name: /^Reserve and pay €/ })

test('buys in one window, while the other sees the places go and come back', async () => {
  const one = await openShop()
  const two = await openShop()
  await one.page.goto(demo.url)
  await one.page.getByRole('link', { name: 'The shop' }).click()
  await one.page.getByRole('link', { name: /Noche de Ñandú/ }).click()
  await one.page.locator('.live.on').waitFor()
  await openEvent(two.page)
  const before = await placesLeft(two.page)
  expect(before).toBe(await placesLeft(one.page))

  await fillIn(one.page)
  await one.page.getByRole('button', { name: 'One ticket more' }).click()
  await one.page.getByLabel('Discount code').fill('vermut10')
  await one.page.getByText('Discount', { exact: true }).waitFor()
  await buyButton(one.page).click()
  await one.page.getByRole('button', { name: /^Pay €/ }).waitFor()
  await expect.poll(() => placesLeft(two.page)).toBe(before - 2)

  await one.page.getByRole('button', { name: /^Pay €/ }).click()
  await one.page.getByRole('heading', { name: 'See you there' }).waitFor()
  await one.page.getByText('2 tickets for Noche de Ñandú').waitFor()
  expect(one.page.url()).toContain('/shop/done')
  const saved = one.page.waitForEvent('download')
  await one.page.getByRole('link', { name: 'Add to the calendar' }).click()
  expect((await saved).suggestedFilename()).toBe('evt_demo_1.ics')
  await one.page.getByRole('link', { name: 'More shows' }).waitFor()
  await one.page.getByRole('link', { name: 'Open the tickets' }).click()
  await one.page.getByRole('link', { name: /^Ticket 1/ }).waitFor()

  await fillIn(two.page)
  await buyButton(two.page).click()
  await two.page.getByRole('button', { name: 'Cancel' }).click()
  await two.page.getByRole('heading', { name: 'Cancelled' }).waitFor()
  await two.page.getByRole('link', { name: 'Back to the show' }).click()
  await two.page.locator('.live.on').waitFor()
  await expect.poll(() => placesLeft(two.page)).toBe(before - 2)
  expect([...one.complaints, ...two.complaints]).toEqual([])
  await one.close()
  await two.close()
})

test('sells by the keyboard alone', async () => {
  const { page, close } = await openShop()
  await openEvent(page)
  await page.getByRole('radio', { name: /Entrance/ }).focus()
  await page.keyboard.press('Space')
  await page.locator('form.order').waitFor()
  const tabTo = async (name: string) => {
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab')
      if ((await page.locator(':focus').evaluate((element) => element.id)) === name) return
    }
    throw new Error(`Tab never reaches ${name}`)
  }
  const idOf = async (label: string) => (await page.getByLabel(label).first().getAttribute('id')) ?? ''
  await tabTo(await idOf('Full name'))
  await page.keyboard.type('Ana Núñez')
  await tabTo(await idOf('E-mail'))
  await page.keyboard.type('ana@example.com')
  await buyButton(page).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Pay €/ }).waitFor()
  await close()
})

test('shows in words at its place what is wrong, and puts the focus there', async () => {
  const { page, close } = await openShop()
  await openEvent(page)
  await page.getByRole('radio', { name: /Terrace|Balcony|Front row/ }).check()
  await page.getByRole('button', { name: /^Reserve/ }).click()
  const described = (label: string) =>
    page
      .getByLabel(label)
      .first()
      .evaluate((input) => [
        input === document.activeElement,
        input.getAttribute('aria-invalid'),
        document.getElementById(input.getAttribute('aria-describedby') ?? '')?.textContent,
      ])
  expect(await described('Full name')).toEqual([true, 'true', 'Please fill this in.'])
  expect(await described('E-mail')).toEqual([false, 'true', 'Please fill this in.'])
  expect(await described('T-shirt size')).toEqual([false, 'true', 'Please fill this in.'])
  await page.getByLabel('Full name').fill('Ana')
  await page.getByLabel('T-shirt size').selectOption('M')
  // A browser takes this address, and the gateway does not: its refusal names the place.
  await page.getByLabel('E-mail').fill('ana@localhost')
  await page.getByRole('button', { name: /^Reserve/ }).click()
  await expect.poll(async () => (await described('E-mail'))[1]).toBe('true')
  await page.getByLabel('Discount code').fill('NOBODY')
  await page.getByText('There is no such code.').waitFor()
  await close()
})

test('connects again after the service was away', async () => {
  const { page, close } = await openShop()
  await openEvent(page)
  await demo.restart(async () => {
    await page.getByText('reconnecting').waitFor()
  })
  await page.locator('.live.on').waitFor()
  await close()
})

test('is not live while the browser is offline', async () => {
  const { page, close } = await openShop()
  await openEvent(page)
  await page.context().setOffline(true)
  await page.getByText('reconnecting').waitFor()
  await page.context().setOffline(false)
  await page.locator('.live.on').waitFor()
  await close()
})

test('says without JavaScript that it needs it, and turns no spinner', async () => {
  const { page, close } = await openShop({ javaScriptEnabled: false })
  await page.goto(`${demo.url}/shop`)
  // Text in a noscript element is found by no locator of text.
  const notice = page.locator('noscript > p')
  await notice.waitFor()
  expect(await notice.textContent()).toMatch(/^This shop needs JavaScript/)
  const shown = await page.locator('main').evaluate((main) => getComputedStyle(main, '::before').display)
  expect(shown).toBe('none')
  await close()
})

test.each([
  ['a phone', phone, 'light'],
  ['a phone at night', phone, 'dark'],
  ['a desk', {}, 'light'],
  ['a desk at night', {}, 'dark'],
] as const)('its views fit %s', async (name, size, colorScheme) => {
  const { page, complaints, close } = await openShop({ ...size, colorScheme })
  const look = async (view: string) => {
    const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect([view, wide]).toEqual([view, window])
    if (pictures)
      await page.screenshot({
        path: `${pictures}/shop-${view}-${name.replaceAll(' ', '-')}.png`,
        fullPage: true,
      })
  }
  await page.goto(`${demo.url}/shop`)
  await page.locator('.events img').first().waitFor()
  const drawn = () =>
    page
      .locator('.events img')
      .first()
      .evaluate((image: HTMLImageElement) => image.naturalWidth)
  await expect.poll(drawn).toBe(600)
  await look('list')
  await openEvent(page)
  await fillIn(page)
  await buyButton(page).waitFor()
  await look('event')
  // A finger needs something to hit.
  for (const button of await page.locator('form.order button').all())
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  expect(complaints).toEqual([])
  await close()
})

test('says so where there is nothing: no such show, no result, no order', async () => {
  const { page, complaints, close } = await openShop()
  const missing = await openShop()
  expect((await missing.page.goto(`${demo.url}/shop/events/evt_demo_999`))?.status()).toBe(404)
  await missing.page.getByText('There is no such show').waitFor()
  await missing.close()
  await page.goto(`${demo.url}/shop?search=%3Cb%3Ezzz`)
  await page.getByText('No show has “<b>zzz” in its name.').waitFor()
  await page.goto(`${demo.url}/shop/done?payment_id=pay_1&status=paid`)
  await page.getByRole('heading', { name: 'Which order?' }).waitFor()
  expect(complaints).toEqual([])
  await close()
})

test('speaks the language of the browser, up to the payment page', async () => {
  const { page, close } = await openShop({ locale: 'de-DE' })
  await openEvent(page)
  await page.getByRole('radio', { name: /Entrance/ }).check()
  await page.getByLabel('Name').first().fill('Ana Núñez')
  await page.getByLabel('E-Mail').first().fill('ana@example.com')
  await page.getByRole('button', { name: /€ zahlen$/ }).click()
  await page.getByRole('button', { name: /€ zahlen$/ }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  await close()
})
