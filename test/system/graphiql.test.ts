// Runs in: system, first

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowsedDemo, openDemo, openPage } from './browser.ts'

// The service with its demo, as `npm start` runs it, in a browser.

let demo: BrowsedDemo
beforeAll(async () => {
  demo = await openDemo()
})
afterAll(() => demo?.close())

const tabNames = [
  'Events',
  'Quote',
  'Checkout',
  'Places',
  'Ticket',
  'BoxOffice',
  'Door',
  'Refund',
  'Changes',
  'Webhook',
]
const tabsOf = (page: Page) => page.locator('.graphiql-tab-button').allTextContents()

async function open(page: Page): Promise<void> {
  await page.goto(`${demo.url}/graphql`)
  await page.getByRole('button', { name: 'Execute query' }).waitFor()
}

/** Opens a tab and waits until GraphiQL has stored it. Before that, it may run the tab under the previous
 *  name. */
async function openTab(page: Page, name: string): Promise<void> {
  await page.locator('.graphiql-tab-button', { hasText: name }).click()
  await page.waitForFunction((name) => {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{"tabs":[]}')
    return tabs[activeTabIndex]?.title === name
  }, name)
}

/** Presses play and reads the response. */
async function run(page: Page) {
  const answered = page.waitForResponse((response) => {
    const sent = response.request().postData()
    return sent !== null && !sent.includes('IntrospectionQuery')
  })
  await page.getByRole('button', { name: 'Execute query' }).click()
  const answer = await (await answered).json()
  await page.locator('.graphiql-response', { hasText: '"data"' }).waitFor()
  return answer.data
}

test('GraphiQL opens with working tabs, from a list of events to a webhook', async () => {
  const { page, complaints, close } = await openPage(demo.browser, demo.url)
  await open(page)
  expect(await tabsOf(page)).toEqual(tabNames)

  const first = await run(page)
  expect(first.events.nodes).toHaveLength(10)
  expect(first.events.nodes[0].ticketRates[0].prices[0]).toMatchObject({ name: expect.any(String) })
  await page.locator('.graphiql-response', { hasText: first.events.nodes[0].name }).waitFor()

  await openTab(page, 'Quote')
  const quoted = await run(page)
  const { total } = quoted.quoteCheckout.amounts
  expect(Number(total.amount)).toBeGreaterThan(0)

  await openTab(page, 'Checkout')
  const made = await run(page)
  expect(made.checkout).toMatchObject({
    payment: { status: 'PENDING', totalAmount: total },
  })

  await page.goto(made.checkout.payment.pageUrl)
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.getByRole('heading', { name: 'Paid' }).waitFor()

  await open(page)
  await openTab(page, 'Ticket')
  const read = await run(page)
  expect(read.ticket).toMatchObject({
    status: 'ACTIVATED',
    saleType: 'BOX_OFFICE',
    payment: { status: 'PAID' },
  })
  await openTab(page, 'BoxOffice')
  const sold = await run(page)
  expect(sold.sellAtBoxOffice).toMatchObject({ payment: { status: 'PAID', boxOffice: { method: 'CASH' } } })
  await openTab(page, 'Door')
  const scanned = await run(page)
  expect(scanned.checkInTicket).toMatchObject({ checkIn: { outcome: 'OK', inside: 1 } })
  await openTab(page, 'Refund')
  const refunded = await run(page)
  expect(refunded.refundTickets).toMatchObject({
    refunds: [{ status: 'SUCCEEDED', amount: { amount: '1.00' } }],
  })
  await openTab(page, 'Changes')
  const result = await run(page)
  expect(result.changes.nodes.slice(0, 2)).toMatchObject([
    { type: 'PAYMENT_PAID' },
    { type: 'TICKET_ACTIVATED' },
  ])
  await openTab(page, 'Webhook')
  const registered = await run(page)
  expect(registered.registerWebhook).toMatchObject({ webhook: { types: ['TICKET_ENTERED'] } })
  // Pressed again, each answers the same.
  expect(await run(page)).toEqual(registered)
  await openTab(page, 'Door')
  expect((await run(page)).checkInTicket).toMatchObject({
    replayed: true,
    checkIn: { outcome: 'OK', inside: 1 },
  })
  await openTab(page, 'Places')
  await page.getByRole('button', { name: 'Execute query' }).click()
  await page.locator('.graphiql-response', { hasText: 'ON_SALE' }).waitFor()
  expect(complaints).toEqual([])
  await close()
})

test('GraphiQL shows its first query before the editor has arrived, and most of it on a phone', async () => {
  const { page, close } = await openPage(demo.browser, demo.url, { viewport: { width: 360, height: 740 } })
  // What has arrived of the page over a slow line.
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch()
    const text = await response.text()
    await route.fulfill({ response, body: text.slice(0, text.indexOf('</main>')) })
  })
  await page.goto(`${demo.url}/graphql`)
  await page.getByText('GraphiQL is loading').waitFor()
  await page.getByText('query Events').waitFor()
  await page.unroute('**/graphql')
  await open(page)
  const { height = 0 } = (await page.locator('.graphiql-query-editor').first().boundingBox()) ?? {}
  expect(height).toBeGreaterThan(250)
  await close()
})

test('GraphiQL documents the schema and completes field names', async () => {
  const { page, complaints, close } = await openPage(demo.browser, demo.url)
  await open(page)
  // Completion needs the schema, which has loaded once the documentation shows.
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
  await page.getByRole('link', { name: 'Query', exact: true }).click()
  await page.locator('.graphiql-doc-explorer', { hasText: 'quoteCheckout' }).waitFor()
  await page.locator('.graphiql-query-editor .view-line', { hasText: 'totalCount' }).click()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.type('edg')
  await page.locator('.suggest-widget .monaco-list-row', { hasText: 'edges' }).waitFor()
  expect(complaints).toEqual([])
  await close()
})

test('GraphiQL fits the window: the editors scroll, not the page', async () => {
  const { page, close } = await openPage(demo.browser, demo.url)
  await open(page)
  await run(page)
  const sizes = await page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement
    return {
      page: { width: scrollWidth, height: scrollHeight },
      window: { width: innerWidth, height: innerHeight },
    }
  })
  expect(sizes.page).toEqual(sizes.window)
  await close()
})

test('GraphiQL fits a phone: query, response and documentation are in view', async () => {
  const viewport = { width: 360, height: 740 }
  const { page, close } = await openPage(demo.browser, demo.url, { viewport, isMobile: true, hasTouch: true })
  await open(page)
  await run(page)
  const widthOf = () => page.evaluate(() => document.documentElement.scrollWidth)
  const rightOf = async (part: string) => {
    const { x, width, y } = (await page.locator(part).first().boundingBox()) ?? { x: 0, width: 0, y: 0 }
    expect(width).toBeGreaterThan(200)
    expect(y).toBeLessThan(viewport.height)
    return x + width
  }
  expect(await widthOf()).toBe(viewport.width)
  for (const part of ['.graphiql-query-editor', '.graphiql-response'])
    expect(await rightOf(part)).toBeLessThanOrEqual(viewport.width)
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
  await page.getByRole('link', { name: 'Query', exact: true }).click()
  await page.locator('.graphiql-doc-explorer', { hasText: 'quoteCheckout' }).waitFor()
  expect(await rightOf('.graphiql-doc-explorer')).toBeLessThanOrEqual(viewport.width)
  await close()
})

test('GraphiQL keeps its tabs after a reload', async () => {
  const { page, close } = await openPage(demo.browser, demo.url)
  await open(page)
  await page.reload()
  await page.getByRole('button', { name: 'Execute query' }).waitFor()
  expect(await tabsOf(page)).toEqual(tabNames)
  expect((await run(page)).events.nodes).toHaveLength(10)
  await close()
})

test('the REST documentation and the root page work offline', async () => {
  const { page, complaints, close } = await openPage(demo.browser, demo.url)
  await page.goto(demo.url)
  await page.getByRole('link', { name: 'REST documentation' }).click()
  await page.locator('.opblock', { hasText: '/tickets/checkout' }).waitFor()
  await page.locator('.opblock', { hasText: '/integrations/tickets/' }).waitFor()
  expect(complaints).toEqual([])
  await close()
})
