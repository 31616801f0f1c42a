import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { payments, providerEvents } from '../../../src/domain/payment/table.ts'
import { refunds } from '../../../src/domain/refund/table.ts'
import { giveBackDue } from '../../../src/domain/sale/refund/give-back-due.ts'
import { sweepHolds } from '../../../src/domain/sale/release/sweep-holds.ts'
import { stock } from '../../../src/domain/ticket-rate/table.ts'
import { type Checkout, countersOf } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { visibleText } from '../../support/payment-page-buyer.ts'
import { openStripeSale, type StripeSale } from '../../support/stripe-sale.ts'
import { type StubSession, signEvent } from '../../support/stub-stripe.ts'

// What Stripe tells by itself, in whatever order, and every ending that a payment has.

const lines: string[] = []
let sale: StripeSale
beforeAll(async () => {
  const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] })
  sale = await openStripeSale(catalogue, {
    settings: { STRIPE_WEBHOOK_SECRET: 'whsec_fake,whsec_next', LOG_LEVEL: 'warn' },
    onLog: (line) => lines.push(line),
  })
})
afterAll(() => sale.close())
beforeEach(() => {
  lines.length = 0
})

const begun = async (more = {}) => {
  const checkout = await sale.checkOut(more)
  return { checkout, session: await sale.goToStripe(checkout) }
}
/** A payment whose hold has expired, while Stripe was out of reach. */
const expired = async (more = {}) => {
  const made = await begun(more)
  await sale.buyer.expire(made.checkout)
  await sweepHolds(sale.db)
  expect(await sale.buyer.statusesOf(made.checkout)).toEqual(['expired', 'expired'])
  return made
}
/** While there is not one place left. */
const whileFull = async <T>(work: () => Promise<T>): Promise<T> => {
  const rate = eq(stock.id, 'rate_1')
  const [before] = await sale.db.select({ capacity: stock.capacity }).from(stock).where(rate)
  await sale.db
    .update(stock)
    .set({ capacity: sql`${stock.sold} + ${stock.held}` })
    .where(rate)
  return work().finally(() => sale.db.update(stock).set({ capacity: before?.capacity }).where(rate))
}
const page = async (checkout: Checkout) => visibleText((await sale.buyer.view(checkout)).body)
const leadsTo = async (checkout: Checkout) => (await sale.buyer.view(checkout)).headers.location
const nowhere = { redirect_url: null, error_url: null }

test('paid: the tickets are active, and the event has its effect once', async () => {
  const { checkout, session } = await begun()
  const event = sale.fake.pay(session.id)
  expect(await sale.deliver(event, event, event)).toEqual(['done', 'repeated', 'repeated'])
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.chargesOf(checkout)).toBe(1)
  const [inbox] = await sale.db.select().from(providerEvents).where(eq(providerEvents.id, event.id))
  expect(inbox).toMatchObject({ provider: 'stripe', type: event.type, paymentId: checkout.payment_id })
})

test('ordered, then paid: a page that says so meanwhile, and the hold stays', async () => {
  const { checkout, session } = await begun()
  await sale.deliver(sale.fake.order(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['processing', 'held'])
  expect(await page(checkout)).toMatch(/Waiting for your bank .* Please don’t pay again/)
  await sale.deliver(sale.fake.succeed(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('ordered, then refused: failed, and the places are free', async () => {
  const { held } = (await countersOf(sale)).rate_1 ?? {}
  const { checkout, session } = await begun()
  await sale.deliver(sale.fake.order(session.id), sale.fake.fail(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
  expect((await countersOf(sale)).rate_1).toMatchObject({ held })
  expect(await leadsTo(checkout)).toContain('status=failed&code=PAYMENT_FAILED')
})

test('a session that ended at Stripe ends the hold', async () => {
  const { checkout, session } = await begun()
  sale.fake.expire(session.id)
  await sale.deliver(...sale.fake.events.slice(-1))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['expired', 'expired'])
})

test('in another order than it happened: paid before ordered', async () => {
  const { checkout, session } = await begun()
  const ordered = sale.fake.order(session.id)
  await sale.deliver(sale.fake.succeed(session.id), ordered)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('a failure after a success undoes nothing', async () => {
  const { checkout, session } = await begun()
  await sale.deliver(sale.fake.pay(session.id), sale.fake.fail(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('money after a failure pays, where there are places', async () => {
  const { checkout, session } = await begun()
  await sale.deliver(sale.fake.fail(session.id), sale.fake.succeed(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('paid after the hold expired, with places left: claimed again', async () => {
  const { checkout, session } = await expired()
  await sale.deliver(sale.fake.pay(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await leadsTo(checkout)).toContain('/thanks')
})

test('back from paying when the hold had expired: nobody is told that it was not paid', async () => {
  const { checkout, session } = await expired()
  sale.fake.pay(session.id)
  sale.fake.setFault('cut')
  expect(visibleText((await sale.comeBack(checkout)).body)).toContain('One moment')
  sale.fake.setFault(null)
  await sale.waitSeconds()
  expect((await sale.comeBack(checkout)).headers.location).toContain('/thanks')
  const unpaid = await expired()
  expect((await sale.comeBack(unpaid.checkout)).headers.location).toContain('code=PAYMENT_EXPIRED')
})

test('paid after the hold expired, with no places left: the money goes back, and the buyer is told', async () => {
  const { checkout, session } = await expired()
  const other = await expired(nowhere)
  await whileFull(() => sale.deliver(sale.fake.pay(session.id), sale.fake.pay(other.session.id)))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['expired', 'expired'])
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY pending 2200'])
  expect(await leadsTo(checkout)).toBe(
    `http://shop.example:8080/sorry?payment_id=${checkout.payment_id}&status=expired&code=LATE_NO_CAPACITY`,
  )
  const told = await page(other.checkout)
  expect(told).toMatch(
    /Your money goes back .* the places had gone to others, so you have no tickets\. All of it is given back/,
  )
  const refunded = { status: 'refunded' as const }
  await sale.db.update(payments).set(refunded).where(eq(payments.id, other.checkout.payment_id))
  await sale.db.update(payments).set(refunded).where(eq(payments.id, checkout.payment_id))
  expect(await page(other.checkout)).toContain('so you have no tickets. All of it has been given back.')
  expect(await leadsTo(checkout)).toContain('/sorry?')
  expect(await leadsTo(checkout)).toContain('status=refunded&code=LATE_NO_CAPACITY')
})

test('a look that finds late money says where it goes', async () => {
  const { checkout, session } = await expired()
  sale.fake.pay(session.id)
  expect(await whileFull(() => leadsTo(checkout))).toContain('code=LATE_NO_CAPACITY')
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY pending 2200'])
})

test('paid after it was cancelled: the money goes back, and the buyer is told', async () => {
  const { checkout, session } = await begun(nowhere)
  const other = await begun()
  sale.fake.setFault('cut')
  for (const cancelled of [checkout, other.checkout]) await sale.buyer.cancel(cancelled)
  sale.fake.setFault(null)
  await sale.deliver(sale.fake.pay(session.id), sale.fake.pay(other.session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['cancelled', 'expired'])
  expect(await sale.refundsOf(checkout)).toEqual(['CANCELLED pending 2200'])
  expect(await page(checkout)).toMatch(
    /Your money goes back .* after the order was cancelled, so you have no tickets/,
  )
  expect(await leadsTo(other.checkout)).toContain('/sorry?')
  expect(await leadsTo(other.checkout)).toContain('status=cancelled&code=CANCELLED')
})

/** Another session of the same payment, as after an answer that was lost. */
function otherSession({ id, ...session }: StubSession): StubSession {
  const other = { ...session, id: `${id}b`, payment_intent: null }
  sale.fake.sessions.set(other.id, other)
  return other
}

test('paid twice: the second money goes back, the buyer has tickets and is told', async () => {
  const { checkout, session } = await begun(nowhere)
  const other = await begun()
  for (const made of [session, other.session]) {
    const second = otherSession(made)
    await sale.deliver(sale.fake.pay(made.id), sale.fake.pay(second.id))
  }
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.refundsOf(checkout)).toEqual(['PAID_TWICE pending 2200'])
  expect(await page(checkout)).toMatch(/Paid Your tickets are active\. You paid twice/)
  expect(await leadsTo(other.checkout)).toContain('/thanks?')
  expect(await leadsTo(other.checkout)).toContain('status=paid&code=PAID_TWICE')
})

test('of a session that the buyer was not sent to only the money counts; then the other is ended', async () => {
  const { checkout, session } = await begun()
  const other = otherSession(session)
  sale.fake.expire(other.id)
  const [ended] = sale.fake.events.slice(-1)
  if (!ended) throw new Error('it tells')
  await sale.deliver(ended)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  const paid = otherSession({ ...session, id: `${session.id}c` })
  await sale.deliver(sale.fake.pay(paid.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  await sale.closeDue()
  expect(sale.fake.sessions.get(session.id)?.status).toBe('expired')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test('what is of no use is taken and does nothing', async () => {
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
    metadata: { payment_id: 'pay_of_another_gateway' },
  })
  expect(await sale.deliver(unknown, foreign, elsewhere)).toEqual(['ignored', 'ignored', 'unknown'])
  expect(lines.join('')).toContain(`"event":"${elsewhere.id}"`)
  expect(lines).toHaveLength(1)
})

test('late money goes back through Stripe by itself, once, and the buyer is told when it has', async () => {
  const { checkout, session } = await expired(nowhere)
  await whileFull(() => sale.deliver(sale.fake.pay(session.id)))
  await giveBackDue(sale.db, sale.provider)
  await giveBackDue(sale.db, sale.provider)
  const { payment_intent } = sale.fake.sessionFor(checkout.payment_id)
  const made = sale.fake.refunds.filter((refund) => refund.payment_intent === payment_intent)
  expect(made.map(({ amount }) => amount)).toEqual([2200])
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY succeeded 2200'])
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['refunded', 'expired'])
  expect(await page(checkout)).toMatch(/Your money is back .* All of it has been given back\./)
})

test('a refund that the bank decided later is settled by our own identifier', async () => {
  const { checkout, session } = await expired()
  await whileFull(() => sale.deliver(sale.fake.pay(session.id)))
  const [row] = await sale.db.select().from(refunds).where(eq(refunds.paymentId, checkout.payment_id))
  const told = { id: 're_1', object: 'refund', metadata: { refund_id: row?.id } }
  expect(
    await sale.deliver(
      sale.fake.emitEvent('refund.created', { ...told, status: 'pending' }),
      sale.fake.emitEvent('refund.updated', { ...told, status: 'succeeded' }),
      sale.fake.emitEvent('refund.updated', { id: 're_2', status: 'succeeded', metadata: {} }),
      sale.fake.emitEvent('refund.updated', {
        ...told,
        status: 'succeeded',
        metadata: { refund_id: 'ref_x' },
      }),
    ),
  ).toEqual(['done', 'done', 'ignored', 'unknown'])
  expect(await sale.refundsOf(checkout)).toEqual(['LATE_NO_CAPACITY succeeded 2200'])
})

test('while the secret is replaced, both are good', async () => {
  const { checkout, session } = await begun()
  const answer = await sale.send(signEvent(sale.fake.pay(session.id), 'whsec_next'))
  expect(answer.statusCode).toBe(200)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

test.each([
  ['by another', (event) => signEvent(event, 'whsec_other')],
  ['too long ago', (event) => signEvent(event, 'whsec_fake', 301)],
  ['for another body', (event) => ({ ...signEvent(event), body: `${signEvent(event).body} ` })],
  ['by nobody', (event) => ({ ...signEvent(event), headers: { 'content-type': 'application/json' } })],
  ['and empty', (event) => ({ ...signEvent(event), body: '' })],
] satisfies [string, (event: ReturnType<StripeSale['fake']['pay']>) => unknown][])(
  'what was signed %s is refused, and changes nothing',
  async (_name, sign) => {
    const { checkout, session } = await begun()
    const { body, headers } = sign(sale.fake.pay(session.id))
    sale.statements.reset()
    const answer = await sale.rest('POST', '/webhooks/stripe', { body, headers })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ success: false, code: 'BAD_REQUEST' })
    expect(sale.statements).toHaveLength(0)
    expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  },
)

test('a body that is too large is not read', async () => {
  const answer = await sale.rest('POST', '/webhooks/stripe', {
    body: 'x'.repeat(300_000),
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.statusCode).toBe(413)
})
