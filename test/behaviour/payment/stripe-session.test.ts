// Runs in: postgres, slow-forms

import { eq, sql } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { openSessions } from '../../../src/domain/payment/queue/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { closeSessions } from '../../../src/domain/sale/settle/provider-session.ts'
import { ticketRates } from '../../../src/domain/ticket-rate/table.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { countersOf } from '../../support/checkouts.ts'
import { shared } from '../../support/harness.ts'
import { visibleText } from '../../support/payment-page-buyer.ts'
import { openStripeSale } from '../../support/stripe-sale.ts'

// The Stripe session of a payment: how it begins, how it ends and how the page shows it.

const sale = shared(openStripeSale)
afterEach(() => sale.fake.setFault(null))

const rowOf = async ({ payment_id }: Checkout) => {
  const [row] = await sale.db.select().from(payments).where(eq(payments.id, payment_id))
  if (!row) throw new Error('no payment')
  return row
}
const thanks = ({ payment_id }: Checkout) =>
  `https://shop.example/thanks?order=7&payment_id=${payment_id}&status=paid#top`
const sorry = ({ payment_id }: Checkout, status: string, code: string) =>
  `http://shop.example:8080/sorry?payment_id=${payment_id}&status=${status}&code=${code}`
const countRequests = (path: RegExp) => sale.fake.asked.filter((request) => path.test(request.path)).length

test('stripe session has the whole amount, outlives the hold and contains no personal data', async () => {
  const checkout = await sale.checkOut({}, 2)
  sale.fake.asked.length = 0
  const answer = await sale.buyer.pay(checkout)
  expect(answer.statusCode).toBe(303)
  const [request] = sale.fake.asked
  const { expiresAt, createdAt } = await rowOf(checkout)
  expect(request).toEqual({
    method: 'POST',
    path: '/v1/checkout/sessions',
    key: checkout.payment_id,
    params: {
      mode: 'payment',
      client_reference_id: checkout.payment_id,
      'metadata[payment_id]': checkout.payment_id,
      'metadata[organization_id]': 'org_1',
      'payment_intent_data[metadata][organization_id]': 'org_1',
      'payment_intent_data[metadata][payment_id]': checkout.payment_id,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'eur',
      'line_items[0][price_data][unit_amount]': '4400',
      'line_items[0][price_data][product_data][name]': 'Noche de Ñandú · Entrance',
      'adaptive_pricing[enabled]': 'false',
      success_url: `${checkout.payment_url}?paid`,
      cancel_url: checkout.payment_url,
      expires_at: String(Math.floor(expiresAt.getTime() / 1000) + 35 * 60),
    },
  })
  expect(JSON.stringify(request)).not.toMatch(/Ana|ana@/)
  const row = await rowOf(checkout)
  const session = sale.fake.sessionFor(checkout.payment_id)
  expect(answer.headers.location).toBe(session.url)
  expect(row).toMatchObject({ provider: 'stripe', sessionId: session.id, sessionUrl: session.url })
  expect([row.status, row.sessionOpen]).toEqual(['pending', true])
  expect(expiresAt.getTime() - createdAt.getTime()).toBe(15 * 60_000)
})

test('stripe session is the same for each press of Pay', async () => {
  const checkout = await sale.checkOut()
  sale.fake.asked.length = 0
  const answers = await Promise.all([1, 2, 3].map(() => sale.buyer.pay(checkout)))
  const before = sale.fake.asked.length
  answers.push(await sale.buyer.pay(checkout))
  expect(sale.fake.asked).toHaveLength(before)
  const { url } = sale.fake.sessionFor(checkout.payment_id)
  expect(answers.map(({ headers }) => headers.location)).toEqual([url, url, url, url])
  const made = [...sale.fake.sessions.values()].filter(
    ({ metadata }) => metadata.payment_id === checkout.payment_id,
  )
  expect(made).toHaveLength(1)
})

test('payment page allows its form to lead to Stripe', async () => {
  const { headers } = await sale.buyer.view(await sale.checkOut({ redirect_url: null, error_url: null }))
  expect(headers['content-security-policy']).toContain(`form-action 'self' https: ${sale.fake.url};`)
})

test.each([
  ['is out of reach', 'cut', 503, /We are busy/],
  ['fails', 500, 500, /Something went wrong on our side/],
  ['limits requests', 429, 500, /Something went wrong on our side/],
] as const)(
  'stripe session cannot be made while Stripe %s, and can be afterwards',
  async (_name, fault, status, title) => {
    const checkout = await sale.checkOut()
    sale.fake.setFault(fault)
    const answer = await sale.buyer.pay(checkout)
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(visibleText(answer.body)).toMatch(title)
    expect(visibleText(answer.body)).toMatch(/Nothing is lost: .* Back to the payment/)
    expect(answer.body).not.toContain('sk_test')
    expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
    sale.fake.setFault(null)
    await sale.goToStripe(checkout)
  },
)

test('stripe session is made again after a lost response, even if the rate was renamed', async () => {
  const checkout = await sale.checkOut()
  await sale.goToStripe(checkout)
  // Simulates a process that died before it saved the session.
  await sale.db
    .update(payments)
    .set({ sessionId: null, sessionUrl: null, sessionOpen: false })
    .where(eq(payments.id, checkout.payment_id))
  await sale.db.update(ticketRates).set({ name: 'Another name' }).where(eq(ticketRates.id, 'rate_1'))
  const { id } = await sale.goToStripe(checkout)
  await sale.db.update(ticketRates).set({ name: 'Entrance' }).where(eq(ticketRates.id, 'rate_1'))
  expect((await rowOf(checkout)).sessionId).toBe(id)
})

test('stripe session made while its checkout is cancelled is expired', async () => {
  const checkout = await sale.checkOut()
  let cancelled: Promise<unknown> | undefined
  sale.fake.setFault(({ path }) => {
    if (path === '/v1/checkout/sessions') cancelled ??= sale.buyer.cancel(checkout)
    return null
  })
  const paying = sale.buyer.pay(checkout)
  await expect.poll(() => cancelled).toBeDefined()
  await Promise.all([paying, cancelled])
  sale.fake.setFault(null)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['cancelled', 'expired'])
  await sale.closeDue()
  expect(sale.fake.sessionFor(checkout.payment_id).status).toBe('expired')
})

test('buyer back before the webhook: Stripe is asked and the webhook changes nothing more', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  const event = sale.fake.pay(id)
  const { statusCode, headers } = await sale.comeBack(checkout)
  expect([statusCode, headers.location]).toEqual([303, thanks(checkout)])
  expect(await sale.deliver(event)).toEqual(['done'])
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.chargesOf(checkout)).toBe(1)
  expect(await sale.refundsOf(checkout)).toEqual([])
  expect((await rowOf(checkout)).sessionOpen).toBe(false)
})

test('buyer back after the webhook: Stripe is not asked', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  await sale.deliver(sale.fake.pay(id))
  sale.fake.asked.length = 0
  expect((await sale.comeBack(checkout)).headers.location).toBe(thanks(checkout))
  expect(sale.fake.asked).toEqual([])
})

test('buyer back while Stripe is out of reach: the page waits, without a form', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  sale.fake.pay(id)
  sale.fake.setFault('cut')
  for (const answer of [await sale.comeBack(checkout), await sale.comeBack(checkout)]) {
    expect(answer.statusCode).toBe(200)
    expect(visibleText(answer.body)).toMatch(/One moment .* being confirmed/)
    expect(answer.headers.refresh).toBe('3')
    expect(answer.body).not.toMatch(/<form|<button/)
  }
  sale.fake.setFault(null)
  await sale.waitSeconds()
  expect((await sale.comeBack(checkout)).headers.location).toBe(thanks(checkout))
})

test('buyer back repeatedly: Stripe is asked only every few seconds', async () => {
  const checkout = await sale.checkOut()
  await sale.goToStripe(checkout)
  sale.fake.asked.length = 0
  const begun = performance.now()
  await Promise.all([1, 2, 3, 4].map(() => sale.comeBack(checkout)))
  await sale.comeBack(checkout)
  // Once, if the buyer is fast enough.
  const times = sale.fake.asked.length
  expect(times).toBeGreaterThan(0)
  expect(times).toBeLessThanOrEqual(1 + Math.floor((performance.now() - begun) / 3000))
  await sale.waitSeconds()
  await sale.comeBack(checkout)
  expect(sale.fake.asked).toHaveLength(times + 1)
})

test('buyer back without paying: Pay leads to the same session', async () => {
  const checkout = await sale.checkOut()
  const { url } = await sale.goToStripe(checkout)
  for (const answer of [await sale.buyer.view(checkout), await sale.buyer.view(checkout)])
    expect(answer.body).toContain('value="pay"')
  await sale.waitSeconds()
  // Simulates a buyer who types ?paid.
  expect((await sale.comeBack(checkout)).body).toContain('value="pay"')
  expect((await sale.buyer.pay(checkout)).headers.location).toBe(url)
})

test('stripe session is expired by Cancel', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  const answer = await sale.buyer.cancel(checkout)
  expect(answer.headers.location).toBe(sorry(checkout, 'cancelled', 'PAYMENT_CANCELLED'))
  expect(sale.fake.sessions.get(id)?.status).toBe('expired')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['cancelled', 'expired'])
  expect((await rowOf(checkout)).sessionOpen).toBe(false)
  expect(await sale.deliver(...sale.fake.events.slice(-1))).toEqual(['done'])
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['cancelled', 'expired'])
})

test.each([
  ['paid', 'pay', 'paid'],
  ['ordered', 'order', 'processing'],
] as const)('stripe session that is %s cannot be cancelled', async (_name, how, status) => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  sale.fake[how](id)
  await sale.buyer.cancel(checkout)
  expect((await sale.buyer.statusesOf(checkout))[0]).toBe(status)
})

test('stripe session cancelled while Stripe is out of reach is expired later', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  sale.fake.setFault('cut')
  expect((await sale.buyer.cancel(checkout)).headers.location).toContain('PAYMENT_CANCELLED')
  await closeSessions(sale)
  expect(sale.fake.sessions.get(id)?.status).toBe('open')
  sale.fake.setFault(null)
  // Nothing is retried at once.
  await closeSessions(sale)
  expect(sale.fake.sessions.get(id)?.status).toBe('open')
  await sale.closeDue()
  expect(sale.fake.sessions.get(id)?.status).toBe('expired')
  expect((await rowOf(checkout)).sessionOpen).toBe(false)
})

test('stripe session is due just before its hold ends, and at once if the hold ends early', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  const { expiresAt } = await rowOf(checkout)
  const [queued] = await sale.db.select().from(openSessions).where(eq(openSessions.sessionId, id))
  expect(expiresAt.getTime() - (queued?.dueAt.getTime() ?? 0)).toBe(5_000)
  await closeSessions(sale)
  expect(sale.fake.sessions.get(id)?.status).toBe('open')
  await sale.buyer.expire(checkout)
  await sweepHolds(sale.db)
  await closeSessions(sale)
  expect(sale.fake.sessions.get(id)?.status).toBe('expired')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['expired', 'expired'])
})

test.each([
  ['was not paid', null, 'expired'],
  ['was paid at the last moment', 'pay', 'paid'],
  ['waits for a bank', 'order', 'processing'],
  ['was refused by a bank', 'fail', 'failed'],
] as const)('stripe session that %s decides the payment when its hold ends', async (_name, how, status) => {
  const { held } = (await countersOf(sale)).rate_1 ?? {}
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  if (how) sale.fake[how](id)
  await sale.closeDue()
  expect((await sale.buyer.statusesOf(checkout))[0]).toBe(status)
  const isHeld = status === 'processing'
  expect((await countersOf(sale)).rate_1).toMatchObject({ held: (held ?? 0) + (isHeld ? 1 : 0) })
  expect((await rowOf(checkout)).sessionOpen).toBe(isHeld)
})

test('buyer back after the hold ended: the session is expired first and decides the payment', async () => {
  const late = await sale.checkOut()
  const { id } = await sale.goToStripe(late)
  sale.fake.pay(id)
  await sale.buyer.expire(late)
  expect((await sale.buyer.view(late)).headers.location).toBe(thanks(late))
  const unpaid = await sale.checkOut()
  const session = await sale.goToStripe(unpaid)
  await sale.buyer.expire(unpaid)
  expect((await sale.buyer.view(unpaid)).headers.location).toBe(sorry(unpaid, 'expired', 'PAYMENT_EXPIRED'))
  expect(sale.fake.sessions.get(session.id)?.status).toBe('expired')
})

test('stripe session that fails to expire does not block others, and its hold still ends', async () => {
  // A test above gives a payment another session by hand. The row of its first one can't be claimed: in the first batch
  // it would end the run before the session that fails.
  await sale.db.delete(openSessions)
  const checkouts = await Promise.all(Array.from({ length: 10 }, () => sale.checkOut()))
  const sessions = await Promise.all(checkouts.map((checkout) => sale.goToStripe(checkout)))
  const [stuck] = sessions
  sale.fake.setFault(({ path }) => (path.includes(`${stuck?.id}/`) ? 500 : null))
  await sale.closeDue()
  // The job's next run, a second later.
  await closeSessions(sale)
  expect(sessions.map(({ id }) => sale.fake.sessions.get(id)?.status)).toEqual([
    'open',
    ...Array.from({ length: 9 }, () => 'expired'),
  ])
  const [first] = checkouts
  if (!first) throw new Error('there are ten')
  await sale.buyer.expire(first)
  await sweepHolds(sale.db)
  expect(await sale.buyer.statusesOf(first)).toEqual(['expired', 'expired'])
})

test('stripe session of a transfer is polled until it is decided', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  await sale.deliver(sale.fake.order(id))
  await sale.closeDue()
  const { status } = await rowOf(checkout)
  expect(status).toBe('processing')
  const [queued] = await sale.db.select().from(openSessions).where(eq(openSessions.sessionId, id))
  expect(queued?.dueAt.getTime()).toBeGreaterThan(Date.now())
  sale.fake.succeed(id)
  await sale.closeDue()
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('sessions of another provider are left alone', async () => {
  const checkout = await sale.checkOut()
  const { id } = await sale.goToStripe(checkout)
  await sale.db.update(payments).set({ provider: 'other' }).where(eq(payments.id, checkout.payment_id))
  await sale.db.update(openSessions).set({ provider: 'other', dueAt: sql`now()` })
  const before = countRequests(new RegExp(id))
  await closeSessions(sale)
  await sale.comeBack(checkout)
  await sale.buyer.cancel(checkout)
  expect(countRequests(new RegExp(id))).toBe(before)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['cancelled', 'expired'])
})
