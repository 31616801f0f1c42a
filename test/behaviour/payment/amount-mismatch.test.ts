import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { charges } from '../../../src/domain/payment/table.ts'
import { giveBackDue, type Mismatch } from '../../../src/domain/sale/refund/give-back-due.ts'
import { sweepHolds } from '../../../src/domain/sale/release/sweep-holds.ts'
import { type Checkout, countersOf } from '../../support/checkouts.ts'
import { visibleText } from '../../support/payment-page-buyer.ts'
import {
  callMutation,
  cancelCheckout,
  changeTypesOf,
  paymentRow,
  refundRows,
  refundTicket,
  ticketOf,
} from '../../support/refunds.ts'
import { openStripeSale, type StripeSale } from '../../support/stripe-sale.ts'
import { type StubEvent, signEvent } from '../../support/stub-stripe.ts'

// Money that Stripe took is held against the payment: 22.00 EUR in each of these.

let sale: StripeSale
let told: Mismatch[]
beforeAll(async () => {
  sale = await openStripeSale()
})
afterAll(() => sale.close())
beforeEach(() => {
  told = []
})

const nowhere = { redirect_url: null, error_url: null }
const begun = async (more = {}) => {
  const checkout = await sale.checkOut(more)
  return { checkout, session: await sale.goToStripe(checkout) }
}
/** An event of Stripe's that tells of other money. */
const telling = (event: StubEvent, money: Record<string, unknown>): StubEvent => ({
  ...event,
  data: { object: { ...event.data.object, ...money } },
})
const giveBack = () => giveBackDue(sale.db, sale.provider, (mismatch) => told.push(mismatch))
const heldNow = async () => (await countersOf(sale)).rate_1?.held
const page = async (checkout: Checkout) => visibleText((await sale.buyer.view(checkout)).body)
const chargesOf = ({ payment_id }: Checkout) =>
  sale.db.select().from(charges).where(eq(charges.paymentId, payment_id))
const invoicesOf = ({ payment_id }: Checkout) => sale.db.$count(invoices, eq(invoices.paymentId, payment_id))

test.each([
  ['one cent', { amount_total: 1 }, { amount: 1, currency: 'EUR' }],
  ['one cent less', { amount_total: 2199 }, { amount: 2199, currency: 'EUR' }],
  ['as many yen', { currency: 'jpy' }, { amount: 2200, currency: 'JPY' }],
  ['more yen', { amount_total: 99_999, currency: 'jpy' }, { amount: 99_999, currency: 'JPY' }],
])(
  '%s pay nothing: they are kept, go back by themselves, and the places are free',
  async (_what, money, kept) => {
    const held = await heldNow()
    const { checkout, session } = await begun(nowhere)
    Object.assign(session, money)
    const event = sale.fake.pay(session.id)
    expect(await sale.deliver(event, event)).toEqual(['done', 'repeated'])
    expect(await sale.buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
    expect(await heldNow()).toBe(held)
    expect(await chargesOf(checkout)).toMatchObject([kept])
    expect(await refundRows(sale, checkout)).toMatchObject([
      { reason: 'AMOUNT_MISMATCH', status: 'pending', ticketId: null, ...kept },
    ])
    expect(await invoicesOf(checkout)).toBe(0)
    expect(await changeTypesOf(sale, checkout.payment_id)).toEqual(['payment.failed'])
    expect(await page(checkout)).toMatch(
      /Your money goes back What arrived is not the amount, or not in the currency, that was asked for, so you have no tickets\. All of it is given back/,
    )
    await giveBack()
    await giveBack()
    const [refund] = await refundRows(sale, checkout)
    expect(refund?.status).toBe('succeeded')
    const back = sale.fake.refunds.filter(({ metadata }) => Object(metadata).refund_id === refund?.id)
    expect(back).toMatchObject([{ amount: kept.amount }])
    // The sums of the payment are of its own money.
    expect(await paymentRow(sale, checkout)).toMatchObject({
      status: 'failed',
      refundedAmount: 0,
      paidAt: null,
    })
    expect(await invoicesOf(checkout)).toBe(0)
  },
)

test('the operator is told once, by identifiers and the amount', async () => {
  const { checkout, session } = await begun()
  await sale.deliver(telling(sale.fake.pay(session.id), { amount_total: 1 }))
  sale.fake.setFault('cut')
  await giveBack()
  sale.fake.setFault(null)
  await giveBack()
  const [refund] = await refundRows(sale, checkout)
  const { payment_id: paymentId } = checkout
  expect(told).toEqual([
    { refundId: refund?.id, paymentId, chargeId: refund?.chargeId, amount: 1, currency: 'EUR' },
  ])
})

test('the shop is told why, by the address for who has no tickets', async () => {
  const { checkout, session } = await begun()
  await sale.deliver(telling(sale.fake.pay(session.id), { amount_total: 1 }))
  expect((await sale.buyer.view(checkout)).headers.location).toBe(
    `http://shop.example:8080/sorry?payment_id=${checkout.payment_id}&status=failed&code=AMOUNT_MISMATCH`,
  )
})

test('a look that finds too little money says so, and pays nothing', async () => {
  const { checkout, session } = await begun()
  sale.fake.pay(session.id)
  session.amount_total = 1
  expect((await sale.comeBack(checkout)).headers.location).toContain('status=failed&code=AMOUNT_MISMATCH')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
  expect(await sale.refundsOf(checkout)).toEqual(['AMOUNT_MISMATCH pending 1'])
})

test('right money that comes after wrong money pays', async () => {
  const { checkout, session } = await begun(nowhere)
  const wrong = { ...session, id: `${session.id}b`, payment_intent: null, amount_total: 1 }
  sale.fake.sessions.set(wrong.id, wrong)
  await sale.deliver(sale.fake.pay(wrong.id), sale.fake.pay(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.refundsOf(checkout)).toEqual(['AMOUNT_MISMATCH pending 1'])
  await giveBack()
  expect(await paymentRow(sale, checkout)).toMatchObject({ status: 'paid', refundedAmount: 0 })
  expect(await invoicesOf(checkout)).toBe(1)
})

test('wrong money for what was paid, expired or cancelled already goes back, and changes nothing else', async () => {
  const paid = await begun()
  const second = { ...paid.session, id: `${paid.session.id}b`, payment_intent: null, amount_total: 1 }
  sale.fake.sessions.set(second.id, second)
  await sale.deliver(sale.fake.pay(paid.session.id), sale.fake.pay(second.id))
  const expired = await begun()
  await sale.buyer.expire(expired.checkout)
  await sweepHolds(sale.db)
  const cancelled = await begun()
  await cancelCheckout(sale, cancelled.checkout.payment_id)
  for (const { session } of [expired, cancelled])
    await sale.deliver(telling(sale.fake.pay(session.id), { currency: 'jpy' }))
  await giveBack()
  const stand = async ({ checkout }: typeof paid) => {
    const { status, refundedAmount } = (await paymentRow(sale, checkout)) ?? {}
    return [status, refundedAmount, ...(await sale.refundsOf(checkout))]
  }
  expect(await stand(paid)).toEqual(['paid', 0, 'AMOUNT_MISMATCH succeeded 1'])
  expect(await stand(expired)).toEqual(['expired', 0, 'AMOUNT_MISMATCH succeeded 2200'])
  expect(await stand(cancelled)).toEqual(['cancelled', 0, 'AMOUNT_MISMATCH succeeded 2200'])
})

test('of more money than was asked for the surplus goes back, and all that was paid can still be refunded', async () => {
  const { checkout, session } = await begun(nowhere)
  session.amount_total = 2500
  await sale.deliver(sale.fake.pay(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await chargesOf(checkout)).toMatchObject([{ amount: 2500, currency: 'EUR' }])
  expect(await sale.refundsOf(checkout)).toEqual(['AMOUNT_MISMATCH pending 300'])
  expect(await page(checkout)).toMatch(/Paid Your tickets are active\. More money came than was asked for/)
  await giveBack()
  expect(told).toMatchObject([{ paymentId: checkout.payment_id, amount: 300, currency: 'EUR' }])
  expect(await paymentRow(sale, checkout)).toMatchObject({ status: 'paid', refundedAmount: 0 })
  const { refund } = await refundTicket(sale, ticketOf(checkout))
  expect(refund).toMatchObject({ status: 'succeeded', amount: 22 })
  expect(await paymentRow(sale, checkout)).toMatchObject({ status: 'refunded', refundedAmount: 2200 })
})

test('more money for places that are gone goes back whole', async () => {
  const { checkout, session } = await begun()
  await cancelCheckout(sale, checkout.payment_id)
  session.amount_total = 2500
  // The session was ended with the checkout, but its buyer had just paid.
  await sale.deliver(sale.fake.pay(session.id))
  expect(await sale.refundsOf(checkout)).toEqual(['CANCELLED pending 2500'])
})

test('the channel reads the reason on its payment', async () => {
  const { checkout, session } = await begun()
  await sale.deliver(telling(sale.fake.pay(session.id), { currency: 'jpy' }))
  const { data, errors } = await sale.graphql<{ payment: unknown }>(
    'query ($id: ID!) { payment(id: $id) { status refunds { reason amount currency ticket { id } } } }',
    { id: checkout.payment_id },
    sale.channel,
  )
  expect(errors).toBeUndefined()
  expect(data?.payment).toEqual({
    status: 'failed',
    refunds: [{ reason: 'AMOUNT_MISMATCH', amount: 2200, currency: 'JPY', ticket: null }],
  })
  const refused = await callMutation(
    sale,
    'refundTicket',
    { ticketId: ticketOf(checkout) },
    sale.integration.v2,
  )
  expect(JSON.stringify(refused.data)).toContain('ILLEGAL_TRANSITION')
})

test('control: money that matches pays, and nothing goes back', async () => {
  const { checkout, session } = await begun()
  expect((await sale.send(signEvent(sale.fake.pay(session.id)))).statusCode).toBe(200)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.refundsOf(checkout)).toEqual([])
})
