// Runs in: system, first

import { readFile } from 'node:fs/promises'
import type { AxeResults } from 'axe-core'
import { eq, sql } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { anEntry, mustCheckOut } from '../support/checkouts.ts'
import { aRateNamed } from '../support/factories.ts'
import { openSale } from '../support/sale.ts'
import { type BrowsedDemo, openDemo, openPage } from './browser.ts'

// Rules of axe on every page of the service with its demo, as `npm start` runs it: for a phone in the dark and a desk
// by day. `SCREENSHOTS` names a folder for pictures of them.

let demo: BrowsedDemo
let axe: string
beforeAll(async () => {
  axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  demo = await openDemo()
})
afterAll(() => demo?.close())

const looks = [
  { name: 'desk', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'phone', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
] as const
const folder = process.env.SCREENSHOTS

/** Part of a library's page that no setting and no style mends: the rule that it breaks, and where. */
type Known = { rule: string; selector: string }

/** Names each element that breaks a rule, unless it is known, and what is known without being broken. */
async function violationsOf(page: Page, known: Known[] = []): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async (known) => {
    type Axe = { run(context: Document, options: object): Promise<AxeResults> }
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations } = await axe.run(document, { resultTypes: ['violations'] })
    const broken = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => ({ id, target: String(target), failureSummary })),
    )
    const isOf = ({ rule, selector }: Known, { id, target }: (typeof broken)[number]) =>
      rule === id && document.querySelector(target)?.matches(selector)
    return [
      ...broken
        .filter((one) => !known.some((part) => isOf(part, one)))
        .map(({ id, target, failureSummary }) => `${id}: ${target}: ${failureSummary}`),
      ...known
        .filter((part) => !broken.some((one) => isOf(part, one)))
        .map(({ rule, selector }) => `mended: ${rule}: ${selector}`),
    ]
  }, known)
}

/** Checks a page as it is shown on a desk and on a phone. */
async function check(
  page: Page,
  name: string,
  known: Known[] = [],
  shown: readonly (typeof looks)[number][] = looks,
): Promise<void> {
  for (const { name: look, viewport, colorScheme } of shown) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect(await violationsOf(page, known), `${name} on a ${look}`).toEqual([])
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide, `${name} on a ${look}`).toBe(viewport.width)
    if (folder) await page.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: true })
  }
}

const open = async () => (await openPage(demo.browser, demo.url, { locale: 'en-GB' })).page

/** Opens the form of a checkout of the demo's first event, filled in. */
async function fillIn(page: Page): Promise<void> {
  await page.goto(`${demo.url}/shop/events/evt_demo_1`)
  await page.locator('.live.on').waitFor()
  await page.getByRole('radio', { name: /Entrance/ }).check()
  await page.getByLabel('Full name').fill('Ana Núñez')
  await page.getByLabel('E-mail').fill('ana@example.com')
  await page.locator('.row.total').waitFor()
}

test('the start page, and an address that is none', async () => {
  const page = await open()
  await page.goto(demo.url)
  await check(page, 'start')
  await page.goto(`${demo.url}/nothing`)
  await page.getByRole('heading', { name: 'No such page' }).waitFor()
  await check(page, 'missing')
  await page.context().close()
})

test('the shop: its list, an event, its form and what is wrong in it', async () => {
  const page = await open()
  await page.goto(`${demo.url}/shop`)
  await page.locator('.events img').first().waitFor()
  await check(page, 'list')
  await fillIn(page)
  await check(page, 'form')
  await page.getByLabel('Full name').fill('')
  await page.getByRole('button', { name: /^Reserve/ }).click()
  await page.locator('[aria-invalid=true]').waitFor()
  await check(page, 'form-wrong')
  await page.goto(`${demo.url}/shop/events/evt_demo_999`)
  await page.getByText('There is no such show').waitFor()
  await check(page, 'no-show')
  await page.context().close()
})

test('the payment page, declined, and the way back into the shop', async () => {
  const page = await open()
  await fillIn(page)
  await page.getByRole('button', { name: /^Reserve and pay €/ }).click()
  await page.getByRole('button', { name: /^Pay €/ }).waitFor()
  await check(page, 'pay')
  await page.getByRole('button', { name: 'Decline the payment' }).click()
  await page.getByRole('alert').waitFor()
  await check(page, 'declined')
  await page.getByRole('button', { name: /^Pay €/ }).click()
  await page.getByRole('link', { name: 'Add to the calendar' }).waitFor()
  await check(page, 'done')
  await page.context().close()
})

test('outcomes without a shop: paid, cancelled, failed and expired', async () => {
  const rate = aRateNamed('1')
  const sale = await openSale({ rates: [rate], listen: true })
  const { page } = await openPage(demo.browser, sale.url, { locale: 'en-GB' })
  const order = async (email = 'ana@example.com') => {
    const tickets = [anEntry('price_1', { email })]
    const { payment_id, payment_url } = await mustCheckOut(sale, { ticket_rate_id: 'rate_1', tickets })
    await page.goto(payment_url)
    return payment_id
  }
  const lookAt = async (title: string) => {
    await page.getByRole('heading', { name: title }).waitFor()
    await check(page, title)
  }
  await order()
  await page.getByRole('button', { name: /^Pay/ }).click()
  await lookAt('Paid')
  await order()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await lookAt('Cancelled')
  await order('failed@example.com')
  await page.getByRole('button', { name: /^Pay/ }).click()
  await lookAt('Not paid')
  const id = await order()
  const isOver = { expiresAt: sql`now() - interval '1 second'` }
  await sale.db.update(payments).set(isOver).where(eq(payments.id, id))
  await page.reload()
  await lookAt('Time is over')
  await page.context().close()
  await sale.close()
})

test('the REST documentation, with an operation open', async () => {
  const page = await open()
  await page.goto(`${demo.url}/docs`)
  await page.locator('.opblock[id$="-checkoutTickets"] .opblock-summary-control').click()
  await page.locator('.opblock-body .responses-table').waitFor()
  // Swagger UI puts the link to an operation into the button that opens it.
  await check(page, 'docs', [{ rule: 'nested-interactive', selector: '.opblock-summary-control' }])
  await page.context().close()
})

// An editor that is open keeps its colours when the scheme changes.
test.each(looks)('GraphiQL, with a response, on a $name', async (look) => {
  const { viewport, colorScheme } = look
  const { page } = await openPage(demo.browser, demo.url, { viewport, colorScheme })
  await page.goto(`${demo.url}/graphql`)
  await page.getByRole('button', { name: 'Execute query' }).click()
  await page.locator('.graphiql-response', { hasText: '"data"' }).waitFor()
  // GraphiQL puts a button that closes a tab into the tab.
  await check(page, 'graphiql', [{ rule: 'nested-interactive', selector: '.graphiql-tab' }], [look])
  await page.context().close()
})

test('a page made wrong on purpose is found, and so is a known part that was mended', async () => {
  const page = await open()
  await page.goto(demo.url)
  await page.evaluate(() => {
    document.documentElement.lang = ''
    document.querySelector<HTMLElement>('main p')?.style.setProperty('color', '#ccc')
  })
  const found = await violationsOf(page, [{ rule: 'select-name', selector: 'select' }])
  expect(found.map((one) => one.split(': ').slice(0, 2).join(': '))).toEqual([
    'color-contrast: p',
    'html-has-lang: html',
    'mended: select-name',
  ])
  await page.context().close()
})
