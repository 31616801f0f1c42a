import { and, eq, lte, sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { openSessions } from '../../../src/domain/payment/queue/table.ts'
import { payments, providerEvents } from '../../../src/domain/payment/table.ts'
import { refunds } from '../../../src/domain/refund/table.ts'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { stock } from '../../../src/domain/stock/table.ts'
import { type Checkout, countersOf } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { shared } from '../../support/harness.ts'
import { visibleText } from '../../support/payment-page-buyer.ts'
import { changeTypesOf } from '../../support/refunds.ts'
import { openStripeSale, type StripeSale } from '../../support/stripe-sale.ts'
import { type StubSession, signEvent } from '../../support/stub-stripe.ts'

// Stripe's webhooks in any order, and every end that a payment can have.

const lines: string[] = []

const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] })
const sale = shared(() =>
  openStripeSale(catalogue, {
    settings: { STRIPE_WEBHOOK_SECRET: 'whsec_fake,whsec_next', LOG_LEVEL: 'warn' },
    onLog: (line) => lines.push(line),
  }),
)
beforeEach(() => {
  lines.length = 0
})

const beginPayment = async (more = {}) => {
  const checkout = await sale.checkOut(more)
  return { checkout, session: await sale.goToStripe(checkout) }
}
/** Makes a payment whose hold expired while Stripe was out of reach. */
const expirePayment = async (more = {}) => {
  const made = await beginPayment(more)
  await sale.buyer.expire(made.checkout)
  await sweepHolds(sale.db)
  expect(await sale.buyer.statusesOf(made.checkout)).toEqual(['expired', 'expired'])
  return made
}
/** Runs `work` while the rate is sold out. */
const whileFull = async <T>(work: () => Promise<T>): Promise<T> => {
  const rate = eq(stock.id, 'rate_1')
  const [before] = await sale.db.select({ capacity: stock.capacity }).from(stock).where(rate)
  await sale.db
    .update(stock)
    .set({ capacity: sql`${stock.sold} + ${stock.held}` })
    .where(rate)
  return work().finally(() => sale.db.update(stock).set({ capacity: before?.capacity }).where(rate))
}
const pageText = async (checkout: Checkout) => visibleText((await sale.buyer.view(checkout)).body)
const redirectOf = async (checkout: Checkout) => (await sale.buyer.view(checkout)).headers.location
const nowhere = { redirect_url: null, error_url: null }

test('stripe event paid activates the tickets once', async () => {
  const { checkout, session } = await beginPayment()
  const event = sale.fake.pay(session.id)
  expect(await sale.deliver(event, event, event)).toEqual(['done', 'repeated', 'repeated'])
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.chargesOf(checkout)).toBe(1)
  const [inbox] = await sale.db.select().from(providerEvents).where(eq(providerEvents.id, event.id))
  expect(inbox).toMatchObject({ provider: 'stripe', type: event.type, paymentId: checkout.payment_id })
})

test('stripe event processing, then paid: the hold stays and the page waits', async () => {
  const { checkout, session } = await beginPayment()
  await sale.deliver(sale.fake.order(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['processing', 'held'])
  expect(await pageText(checkout)).toMatch(/Waiting for your bank .* Please don’t pay again/)
  await sale.deliver(sale.fake.succeed(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('stripe event processing, then failed: the payment fails and frees its places', async () => {
  const { held } = (await countersOf(sale)).rate_1 ?? {}
  const { checkout, session } = await beginPayment()
  await sale.deliver(sale.fake.order(session.id), sale.fake.fail(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
  expect((await countersOf(sale)).rate_1).toMatchObject({ held })
  expect(await redirectOf(checkout)).toContain('status=failed&code=PAYMENT_FAILED')
})

test('a payment that a bank decides about is held for a week, and fails after it if the bank refuses', async () => {
  const { checkout, session } = await beginPayment()
  await sale.deliver(sale.fake.order(session.id))
  const [held] = await sale.db
    .select({ days: sql<number>`extract(epoch from ${payments.expiresAt} - now())::float8 / 86400` })
    .from(payments)
    .where(eq(payments.id, checkout.payment_id))
  expect(held?.days).toBeCloseTo(7, 1)
  // Overdue, before a sweep has seen it.
  await sale.buyer.expire(checkout)
  await sale.deliver(sale.fake.fail(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
  expect(await changeTypesOf(sale, checkout.payment_id)).toEqual(['payment.failed'])
})

test('stripe event expired ends the hold', async () => {
  const { checkout, session } = await beginPayment()
  sale.fake.expire(session.id)
  await sale.deliver(...sale.fake.events.slice(-1))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['expired', 'expired'])
})

test('stripe events paid before processing still pay', async () => {
  const { checkout, session } = await beginPayment()
  const ordered = sale.fake.order(session.id)
  await sale.deliver(sale.fake.succeed(session.id), ordered)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('stripe event failed after paid changes nothing', async () => {
  const { checkout, session } = await beginPayment()
  await sale.deliver(sale.fake.pay(session.id), sale.fake.fail(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('stripe event paid after failed pays if places are left', async () => {
  const { checkout, session } = await beginPayment()
  await sale.deliver(sale.fake.fail(session.id), sale.fake.succeed(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('stripe event paid after expiry pays if places are left', async () => {
  const { checkout, session } = await expirePayment()
  await sale.deliver(sale.fake.pay(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await redirectOf(checkout)).toContain('/thanks')
})

test('buyer back from paying after expiry sees no expiry while Stripe is out of reach', async () => {
  const { checkout, session } = await expirePayment()
  sale.fake.pay(session.id)
  sale.fake.setFault('cut')
  expect(visibleText((await sale.comeBack(checkout)).body)).toContain('One moment')
  sale.fake.setFault(null)
  await sale.waitSeconds()
  expect((await sale.comeBack(checkout)).headers.location).toContain('/thanks')
  const unpaid = await expirePayment()
  expect((await sale.comeBack(unpaid.checkout)).headers.location).toContain('code=PAYMENT_EXPIRED')
})

test('stripe event paid after expiry of a full rate is refunded and the page says so', async () => {
  const { checkout, session } = await expirePayment()
  const other = await expirePayment(nowhere)
  await whileFull(() => sale.deliver(sale.fake.pay(session.id), sale.fake.pay(other.session.id)))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['expired', 'expired'])
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY pending 2200'])
  expect(await redirectOf(checkout)).toBe(
    `http://shop.example:8080/sorry?payment_id=${checkout.payment_id}&status=expired&code=LATE_NO_CAPACITY`,
  )
  const text = await pageText(other.checkout)
  expect(text).toMatch(
    /Your money goes back .* the places had gone to others, so you have no tickets\. All of it is given back/,
  )
  const refunded = { status: 'refunded' as const }
  await sale.db.update(payments).set(refunded).where(eq(payments.id, other.checkout.payment_id))
  await sale.db.update(payments).set(refunded).where(eq(payments.id, checkout.payment_id))
  expect(await pageText(other.checkout)).toContain('so you have no tickets. All of it has been given back.')
  expect(await redirectOf(checkout)).toContain('/sorry?')
  expect(await redirectOf(checkout)).toContain('status=refunded&code=LATE_NO_CAPACITY')
})

test('a late payment found by polling redirects with its reason', async () => {
  const { checkout, session } = await expirePayment()
  sale.fake.pay(session.id)
  expect(await whileFull(() => redirectOf(checkout))).toContain('code=LATE_NO_CAPACITY')
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY pending 2200'])
})

test('stripe event paid after cancelling is refunded and the page says so', async () => {
  const { checkout, session } = await beginPayment(nowhere)
  const other = await beginPayment()
  sale.fake.setFault('cut')
  for (const cancelled of [checkout, other.checkout]) await sale.buyer.cancel(cancelled)
  sale.fake.setFault(null)
  await sale.deliver(sale.fake.pay(session.id), sale.fake.pay(other.session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['cancelled', 'expired'])
  expect(await sale.refundsOf(checkout)).toEqual(['PAID_AFTER_CANCELLATION pending 2200'])
  expect(await pageText(checkout)).toMatch(
    /Your money goes back .* after the order was cancelled, so you have no tickets/,
  )
  expect(await redirectOf(other.checkout)).toContain('/sorry?')
  expect(await redirectOf(other.checkout)).toContain('status=cancelled&code=PAID_AFTER_CANCELLATION')
})

/** Adds a session to the same payment, as after a lost response. */
function otherSession({ id, ...session }: StubSession): StubSession {
  const other = { ...session, id: `${id}b`, payment_intent: null }
  sale.fake.sessions.set(other.id, other)
  return other
}

test('stripe event paid twice refunds the second and the page says so', async () => {
  const { checkout, session } = await beginPayment(nowhere)
  const other = await beginPayment()
  for (const made of [session, other.session]) {
    const second = otherSession(made)
    await sale.deliver(sale.fake.pay(made.id), sale.fake.pay(second.id))
  }
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.refundsOf(checkout)).toEqual(['PAID_TWICE pending 2200'])
  expect(await pageText(checkout)).toMatch(/Paid Your tickets are active\. You paid twice/)
  expect(await redirectOf(other.checkout)).toContain('/thanks?')
  expect(await redirectOf(other.checkout)).toContain('status=paid&code=PAID_TWICE')
})

const isDue = async ({ payment_id }: Checkout) =>
  (await sale.db.$count(
    openSessions,
    and(eq(openSessions.paymentId, payment_id), lte(openSessions.dueAt, sql`now()`)),
  )) === 1

test('stripe events of an unknown session count only if paid, which expires the known session', async () => {
  const { checkout, session } = await beginPayment()
  const other = otherSession(session)
  sale.fake.expire(other.id)
  const [ended] = sale.fake.events.slice(-1)
  if (!ended) throw new Error('no event')
  await sale.deliver(ended)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  expect(await isDue(checkout)).toBe(false)
  const paid = otherSession({ ...session, id: `${session.id}c` })
  await sale.deliver(sale.fake.pay(paid.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await isDue(checkout)).toBe(true)
  await sale.closeDue()
  expect(sale.fake.sessions.get(session.id)?.status).toBe('expired')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('stripe events of other payments are accepted and ignored', async () => {
  const unknown = sale.fake.emitEvent('customer.created', { id: 'cus_1' })
  const foreign = sale.fake.emitEvent('checkout.session.completed', {
    id: 'cs_1',
    status: 'complete',
    payment_status: 'paid',
    metadata: {},
    client_reference_id: 'pay_1',
    payment_intent: 'pi_1',
    amount_total: 100,
    currency: 'eur',
  })
  const elsewhere = sale.fake.emitEvent('checkout.session.completed', {
    ...foreign.data.object,
    metadata: { payment_id: 'pay_of_another_gateway', organization_id: 'org_1' },
  })
  expect(await sale.deliver(unknown, foreign, elsewhere)).toEqual(['ignored', 'ignored', 'unknown'])
  expect(lines.join('')).toContain(`"event":"${elsewhere.id}"`)
  expect(lines).toHaveLength(1)
})

test('a late payment is refunded through Stripe once, and the page says so', async () => {
  const { checkout, session } = await expirePayment(nowhere)
  await whileFull(() => sale.deliver(sale.fake.pay(session.id)))
  await processDueRefunds(sale.db, sale.provider)
  await processDueRefunds(sale.db, sale.provider)
  const { payment_intent } = sale.fake.sessionFor(checkout.payment_id)
  const made = sale.fake.refunds.filter((refund) => refund.payment_intent === payment_intent)
  expect(made.map(({ amount }) => amount)).toEqual([2200])
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY succeeded 2200'])
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['refunded', 'expired'])
  expect(await pageText(checkout)).toMatch(/Your money is back .* All of it has been given back\./)
})

test('stripe event of a refund settles it by our own id', async () => {
  const { checkout, session } = await expirePayment()
  await whileFull(() => sale.deliver(sale.fake.pay(session.id)))
  const [row] = await sale.db.select().from(refunds).where(eq(refunds.paymentId, checkout.payment_id))
  const told = { id: 're_1', object: 'refund', metadata: { refund_id: row?.id, organization_id: 'org_1' } }
  expect(
    await sale.deliver(
      sale.fake.emitEvent('refund.created', { ...told, status: 'pending' }),
      sale.fake.emitEvent('refund.updated', { ...told, status: 'succeeded' }),
      sale.fake.emitEvent('refund.updated', { id: 're_2', status: 'succeeded', metadata: {} }),
      sale.fake.emitEvent('refund.updated', {
        ...told,
        status: 'succeeded',
        metadata: { refund_id: 'ref_x', organization_id: 'org_1' },
      }),
    ),
  ).toEqual(['done', 'done', 'ignored', 'unknown'])
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY succeeded 2200'])
})

test('stripe events signed with either of two secrets are accepted', async () => {
  const { checkout, session } = await beginPayment()
  const answer = await sale.send(signEvent(sale.fake.pay(session.id), 'whsec_next'))
  expect(answer.statusCode).toBe(200)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test.each([
  ['with another secret', (event) => signEvent(event, 'whsec_other')],
  ['too long ago', (event) => signEvent(event, 'whsec_fake', 301)],
  ['for another body', (event) => ({ ...signEvent(event), body: `${signEvent(event).body} ` })],
  ['not at all', (event) => ({ ...signEvent(event), headers: { 'content-type': 'application/json' } })],
  ['and empty', (event) => ({ ...signEvent(event), body: '' })],
] satisfies [string, (event: ReturnType<StripeSale['fake']['pay']>) => unknown][])(
  'stripe event signed %s is refused and changes nothing',
  async (_name, sign) => {
    const { checkout, session } = await beginPayment()
    const { body, headers } = sign(sale.fake.pay(session.id))
    sale.statements.reset()
    const answer = await sale.rest('POST', '/webhooks/stripe', { body, headers })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ success: false, code: 'BAD_REQUEST' })
    expect(sale.statements).toHaveLength(0)
    expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  },
)

test('stripe event with a body too large is refused', async () => {
  const answer = await sale.rest('POST', '/webhooks/stripe', {
    body: 'x'.repeat(300_000),
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.statusCode).toBe(413)
})
