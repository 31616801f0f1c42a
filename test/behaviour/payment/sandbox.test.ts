// Runs in: postgres, slow-forms

import { asc, eq } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { type Checkout, countersOf } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateNamed } from '../../support/factories.ts'
import { openPageBuyer, pagePath, redirectUrls, visibleText } from '../../support/payment-page-buyer.ts'
import { openSale, sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { holdTickets } from '../../support/tickets.ts'

// Payments that the sandbox declines, or lets fail (DECISIONS 77).

const rate = aRateNamed('1')
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [rate] })] })

let buyer: ReturnType<typeof openPageBuyer>
const sale = sharedSale(catalogue)
beforeAll(async () => {
  buyer = openPageBuyer(sale)
})

const checkOut = (...emails: string[]) =>
  holdTickets(sale, { entries: emails.map((email) => ({ email })), ...redirectUrls })

const decline = (checkout: Checkout) => buyer.post(pagePath(checkout), 'action=decline')

const changesOf = async ({ payment_id }: Checkout) => {
  const rows = await sale.db
    .select({ type: changes.type })
    .from(changes)
    .where(eq(changes.subjectId, payment_id))
    .orderBy(asc(changes.sequence))
  return rows.map(({ type }) => type)
}

const refusal = 'The payment was declined, and nothing was taken. You can try again.'

test('sandbox: Decline takes nothing and keeps the places, as a declined card does, and then Pay pays', async () => {
  const checkout = await checkOut('ana@example.com')
  const counters = await countersOf(sale)
  expect(visibleText((await buyer.view(checkout)).body)).toContain('Decline the payment')
  for (const _attempt of [1, 2]) {
    const { statusCode, body } = await decline(checkout)
    expect(statusCode).toBe(200)
    expect(visibleText(body)).toContain(refusal)
    expect(visibleText(body)).toContain('Pay €22.00')
  }
  expect(visibleText((await buyer.view(checkout)).body)).not.toContain(refusal)
  expect(await buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  expect(await countersOf(sale)).toEqual(counters)
  expect(await changesOf(checkout)).toEqual([])
  expect((await buyer.pay(checkout)).headers.location).toContain('status=paid')
  expect(await changesOf(checkout)).toEqual(['payment.paid'])
})

test('sandbox: Decline on an overdue payment expires it', async () => {
  const checkout = await checkOut('ana@example.com')
  await buyer.expire(checkout)
  expect((await decline(checkout)).headers.location).toContain('code=PAYMENT_EXPIRED')
})

test('sandbox: Pay is declined while a ticket is declined@example.com', async () => {
  const checkout = await checkOut('ana@example.com', 'declined@example.com')
  const { statusCode, body } = await buyer.pay(checkout)
  expect(statusCode).toBe(200)
  expect(visibleText(body)).toContain(refusal)
  expect(body).not.toContain('@example.com')
  expect(await buyer.statusesOf(checkout)).toEqual(['pending', 'held', 'held'])
  expect((await buyer.cancel(checkout)).headers.location).toContain('status=cancelled')
})

test('sandbox: Pay fails where a ticket is failed@example.com, as a debit that a bank returns', async () => {
  const checkout = await checkOut('failed@example.com')
  const { location } = (await buyer.pay(checkout)).headers
  expect(location).toContain('/sorry?')
  expect(location).toContain('status=failed&code=PAYMENT_FAILED')
  expect(await buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
  expect(await changesOf(checkout)).toEqual(['payment.failed'])
})

test('another provider knows neither the addresses nor Decline', async () => {
  const other = await openSale(catalogue, { provider: stubProvider() })
  try {
    const page = openPageBuyer(other)
    for (const email of ['declined@example.com', 'failed@example.com']) {
      const checkout = await holdTickets(other, { entry: { email }, ...redirectUrls })
      expect((await page.view(checkout)).body).not.toContain('value="decline"')
      expect((await page.post(pagePath(checkout), 'action=decline')).statusCode).toBe(400)
      expect((await page.pay(checkout)).headers.location).toContain('status=paid')
    }
  } finally {
    await other.close()
  }
})
