// Runs in: postgres, slow-forms

import { setTimeout } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import type { PaymentOrder, PaymentOutcome } from '../../../src/domain/payment/provider.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { countersOf } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateNamed } from '../../support/factories.ts'
import { openPageBuyer, redirectUrls, visibleText } from '../../support/payment-page-buyer.ts'
import { sharedSale } from '../../support/sale.ts'
import { endedOutcome, paidOutcome, stubProvider } from '../../support/stub-provider.ts'
import { holdTickets } from '../../support/tickets.ts'

// Actions of a buyer on the payment page, and their redirects.

const rate = aRateNamed('1')
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [rate] })] })
const actions = ['view', 'pay', 'cancel'] as const

// Replaced by tests that need another outcome.
const takes = async ({ id, totalAmount: amount, currency }: PaymentOrder) =>
  paidOutcome(id, { amount, currency })
let outcome: (order: PaymentOrder) => Promise<PaymentOutcome> = takes
let charges: string[] = []
const provider = stubProvider({
  charge: (order) => {
    charges.push(order.id)
    return outcome(order)
  },
})

let buyer: ReturnType<typeof openPageBuyer>
const sale = sharedSale(catalogue, { provider })
beforeAll(async () => {
  buyer = openPageBuyer(sale)
})

const checkOut = (more = {}, count = 1) => holdTickets(sale, { count, ...more })

test('payment page: Pay activates the tickets and redirects to redirect_url', async () => {
  const checkout = await checkOut(redirectUrls, 2)
  const answer = await buyer.pay(checkout)
  expect(answer.statusCode).toBe(303)
  expect(answer.headers).toMatchObject({
    location: `https://shop.example/thanks?order=7&payment_id=${checkout.payment_id}&status=paid#top`,
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
  })
  expect(await buyer.statusesOf(checkout)).toEqual(['paid', 'active', 'active'])
})

test.each([
  ["/a%20b?c=d%20e+f&g=%2B%7E~*()!'", 'c=d%20e+f&g=%2B%7E~*()!%27&'],
  ['/?', ''],
  ['/?a&b=&&=c&d=e=f', 'a&b=&&=c&d=e=f&'],
  ['/?%', '%&'],
  ['/?q=%ff%C3%BC&ü=ü', 'q=%ff%C3%BC&%C3%BC=%C3%BC&'],
  ['/?payment_id=x&a=1&status=y&status=z&payment%5Fid=1&code=own', 'a=1&code=own&'],
])('payment page: the parameters of a redirect_url %s stay as they are written', async (path, kept) => {
  const checkout = await checkOut({ redirect_url: `https://shop.example${path}#top` })
  const { headers } = await buyer.pay(checkout)
  const { pathname } = new URL(`https://shop.example${path}`)
  expect(headers.location).toBe(
    `https://shop.example${pathname}?${kept}payment_id=${checkout.payment_id}&status=paid#top`,
  )
})

test('payment page: a parameter of error_url that is ours is replaced', async () => {
  const checkout = await checkOut({ error_url: 'https://shop.example/?code=own&b=%20&status=' })
  expect((await buyer.cancel(checkout)).headers.location).toBe(
    `https://shop.example/?b=%20&payment_id=${checkout.payment_id}&status=cancelled&code=PAYMENT_CANCELLED`,
  )
})

test('payment page: ?tickets shows the tickets of a paid payment in place of the redirect', async () => {
  const checkout = await checkOut(redirectUrls)
  const look = () => sale.rest('GET', `${new URL(checkout.payment_url).pathname}?tickets`)
  expect((await look()).body).toContain('<form')
  await buyer.pay(checkout)
  const { statusCode, body } = await look()
  expect([statusCode, /href="[^"]+\/tickets\/[^"]+\.pdf"/.test(body)]).toEqual([200, true])
  const cancelled = await checkOut(redirectUrls)
  await buyer.cancel(cancelled)
  const { pathname } = new URL(cancelled.payment_url)
  expect((await sale.rest('GET', `${pathname}?tickets`)).headers.location).toContain('status=cancelled')
})

test('payment page: Cancel frees the places and redirects to error_url', async () => {
  const { held } = (await countersOf(sale)).rate_1 ?? {}
  const checkout = await checkOut(redirectUrls)
  const answer = await buyer.cancel(checkout)
  expect(answer.statusCode).toBe(303)
  expect(answer.headers.location).toBe(
    `http://shop.example:8080/sorry?payment_id=${checkout.payment_id}&status=cancelled&code=PAYMENT_CANCELLED`,
  )
  expect(await buyer.statusesOf(checkout)).toEqual(['cancelled', 'expired'])
  expect((await countersOf(sale)).rate_1).toMatchObject({ held })
})

test.each(actions)('payment page: %s after the hold is over expires the payment', async (action) => {
  const checkout = await checkOut(redirectUrls)
  await buyer.expire(checkout)
  charges = []
  const answer = await buyer[action](checkout)
  expect(answer.statusCode).toBe(303)
  expect(answer.headers.location).toBe(
    `http://shop.example:8080/sorry?payment_id=${checkout.payment_id}&status=expired&code=PAYMENT_EXPIRED`,
  )
  expect(charges).toEqual([])
  expect(await buyer.statusesOf(checkout)).toEqual(['expired', 'expired'])
})

test.each([
  ['pay', 'Paid', 'Your tickets are active'],
  ['cancel', 'Cancelled', 'no longer held'],
  ['view', 'Time is over', 'not paid in time'],
] as const)('payment page: %s without redirect URLs ends on our own page', async (action, title, text) => {
  const checkout = await checkOut()
  if (action === 'view') await buyer.expire(checkout)
  for (const answer of [await buyer[action](checkout), await buyer.view(checkout)]) {
    expect(answer.statusCode).toBe(200)
    expect(visibleText(answer.body)).toContain(title)
    expect(visibleText(answer.body)).toContain(text)
    expect(answer.body).not.toMatch(/<form|http-equiv/)
    expect(answer.headers.refresh).toBeUndefined()
  }
})

test('payment page of a settled payment changes nothing and redirects as before', async () => {
  const paid = await checkOut(redirectUrls)
  const thanks = (await buyer.pay(paid)).headers.location
  charges = []
  for (const action of actions) {
    const { statusCode, headers } = await buyer[action](paid)
    expect([statusCode, headers.location]).toEqual([303, thanks])
  }
  const cancelled = await checkOut(redirectUrls)
  const sorry = (await buyer.cancel(cancelled)).headers.location
  for (const action of actions) {
    const { statusCode, headers } = await buyer[action](cancelled)
    expect([statusCode, headers.location]).toEqual([303, sorry])
  }
  expect(charges).toEqual([])
  expect(await buyer.statusesOf(paid)).toEqual(['paid', 'active'])
  expect(await buyer.statusesOf(cancelled)).toEqual(['cancelled', 'expired'])
})

test('payment page: Pay and Cancel at once settle once, with one answer for all', async () => {
  const checkout = await checkOut(redirectUrls, 3)
  const { sold = 0, held = 0 } = (await countersOf(sale)).rate_1 ?? {}
  const pressed = ['pay', 'pay', 'cancel', 'pay', 'view', 'cancel'] as const
  const answers = await Promise.all(pressed.map((action) => buyer[action](checkout)))
  const [status] = await buyer.statusesOf(checkout)
  const ended = answers.filter(({ statusCode }) => statusCode === 303)
  // A look may come before the payment is settled.
  expect(ended.length).toBeGreaterThanOrEqual(5)
  for (const { headers } of ended) expect(headers.location).toContain(`status=${status}`)
  expect((await countersOf(sale)).rate_1).toEqual({
    sold: sold + (status === 'paid' ? 3 : 0),
    held: held - 3,
  })
})

test('however often Pay is pressed at once, the provider is called once for a payment, and for all a bounded number of times', async () => {
  const checkouts = await Promise.all(Array.from({ length: 45 }, () => checkOut()))
  charges = []
  let decide = () => {}
  const decided = new Promise<void>((resolve) => {
    decide = resolve
  })
  outcome = (order) => decided.then(() => takes(order))
  const [first] = checkouts
  if (!first) return expect.unreachable()
  const presses = [...Array.from({ length: 400 }, () => first), ...checkouts]
  const answers = Promise.all(presses.map((checkout) => buyer.pay(checkout)))
  // Of one organization: the calls that are left are for the others.
  await expect.poll(() => charges.length).toBe(40)
  await setTimeout(200)
  expect(charges).toHaveLength(40)
  decide()
  expect(new Set((await answers).map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  outcome = takes
  expect(charges).toHaveLength(checkouts.length)
  expect(new Set(charges).size).toBe(checkouts.length)
})

test('a failed payment frees the places and redirects to error_url', async () => {
  const checkout = await checkOut(redirectUrls)
  outcome = async () => endedOutcome('failed')
  const { headers } = await buyer.pay(checkout)
  outcome = takes
  expect(headers.location).toContain('status=failed&code=PAYMENT_FAILED')
  expect(await buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
})

test('a payment provider out of reach is an error page with the request id, and can be retried', async () => {
  const checkout = await checkOut(redirectUrls)
  outcome = async () => {
    throw new Error('connect to 10.0.0.1 with key sk_secret')
  }
  const answer = await buyer.pay(checkout)
  outcome = takes
  expect(answer.statusCode).toBe(500)
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(answer.body).toContain(String(answer.headers['x-request-id']))
  expect(answer.body).not.toMatch(/sk_secret|10\.0\.0\.1/)
  expect((await buyer.pay(checkout)).headers.location).toContain('status=paid')
})

test('payment page of a processing payment refreshes itself', async () => {
  const checkout = await checkOut(redirectUrls)
  await sale.db.update(payments).set({ status: 'processing' }).where(eq(payments.id, checkout.payment_id))
  for (const action of actions) {
    const { statusCode, headers } = await buyer[action](checkout)
    expect(statusCode).toBe(200)
    expect(headers.refresh).toBe('3')
  }
  expect(await buyer.statusesOf(checkout)).toEqual(['processing', 'held'])
})
