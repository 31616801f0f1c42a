import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowsedDemo, openDemo, openPage } from './browser.ts'

// The REST documentation of the service with its demo, as `npm start` runs it, in a browser.

let demo: BrowsedDemo
beforeAll(async () => {
  demo = await openDemo()
})
afterAll(() => demo?.close())

/** Opens an operation, presses Execute without typing anything, and returns the response. */
async function tryOut(page: Page, operationId: string) {
  const operation = page.locator(`.opblock[id$="-${operationId}"]`)
  await operation.locator('.opblock-summary-control').click()
  const answered = page.waitForResponse((response) => response.request().resourceType() === 'fetch')
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = await answered
  await operation.locator('.live-responses-table', { hasText: String(answer.status()) }).waitFor()
  return { status: answer.status(), body: await answer.json() }
}

test('"Try it out" lists events, sells a ticket, and reads one, as it is', async () => {
  const { page, complaints, close } = await openPage(demo.browser, demo.url)
  await page.goto(`${demo.url}/docs`)
  await page.locator('.opblock', { hasText: '/tickets/checkout' }).waitFor()

  const events = await tryOut(page, 'listEvents')
  expect(events.status).toBe(200)
  expect(events.body.data).toHaveLength(5)
  expect(events.body.data[0].ticket_rates[0].prices[0]._id).toMatch(/^price_demo_/)

  const sold = await tryOut(page, 'checkoutTickets')
  expect(sold.status).toBe(200)
  expect(sold.body.data).toMatchObject({ conditions_changed: false, tickets: [{ status: 'active' }] })

  const ticket = await tryOut(page, 'lookUpTicket')
  expect(ticket.status).toBe(200)
  expect(ticket.body.data).toMatchObject({ status: 'activated', sale_type: 'box_office' })

  await page.goto(sold.body.data.payment_url)
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  expect(complaints).toEqual([])
  await close()
})

test('"Try it out" asks the address of the page, by whatever name', async () => {
  const named = demo.url.replace('127.0.0.1', 'localhost')
  const { page, complaints, close } = await openPage(demo.browser, named)
  await page.goto(`${named}/docs`)
  await page.locator('.opblock', { hasText: '/tickets/checkout' }).waitFor()
  expect((await tryOut(page, 'listEvents')).status).toBe(200)
  expect(complaints).toEqual([])
  await close()
})

test.each([360, 1280])(
  'at %i pixels the page begins with its operations, and shows what differs',
  async (width) => {
    const { page, complaints, close } = await openPage(demo.browser, demo.url, {
      viewport: { width, height: 800 },
    })
    await page.goto(`${demo.url}/docs`)
    const operation = page.locator('.opblock[id$="-checkoutTickets"]')
    await operation.waitFor()
    expect((await page.locator('.opblock').first().boundingBox())?.y).toBeLessThan(800)
    await operation.locator('.opblock-summary-control').click()
    const statuses = operation.locator('.response[data-code]')
    await statuses.first().waitFor()
    expect(await statuses.count()).toBeGreaterThan(10)
    expect((await operation.boundingBox())?.height).toBeLessThan(width < 1000 ? 6000 : 4000)
    // The headers are in the answer of success; those of others are a press away.
    const headers = operation.locator('.headers-wrapper:visible')
    expect(await headers.count()).toBe(1)
    await operation.getByRole('button', { name: 'Headers and body of 409' }).click()
    expect(await headers.count()).toBe(2)
    await operation.getByRole('button', { name: 'Headers and body of 409' }).click()
    expect(await headers.count()).toBe(1)
    expect(complaints).toEqual([])
    await close()
  },
)

test('the page shows the messages to webhooks and the schemas', async () => {
  const { page, close } = await openPage(demo.browser, demo.url)
  await page.goto(`${demo.url}/docs`)
  await page.locator('.webhooks', { hasText: 'payment.paid' }).waitFor()
  await page.locator('.models', { hasText: 'CheckoutTicketEntry' }).waitFor()
  await close()
})

test('the document shows the identifiers of the demo in its examples', async () => {
  const text = await (await fetch(`${demo.url}/openapi.json`)).text()
  expect(text).toContain('"ticket_rate_id":"rate_demo_8_1"')
  expect(text).toContain('"event_id":"evt_demo_8"')
  expect(text).not.toMatch(/"key":|box_(live|test)_/)
})
