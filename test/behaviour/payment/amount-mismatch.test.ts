// Runs in: postgres, slow-forms

import { eq } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { charges } from '../../../src/domain/payment/table.ts'
import { type Mismatch, processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { type Checkout, countersOf } from '../../support/checkouts.ts'
import { shared } from '../../support/harness.ts'
import { visibleText } from '../../support/payment-page-buyer.ts'
import {
  callMutation,
  cancelPayment,
  changeTypesOf,
  paymentRow,
  refundRows,
  refundTicket,
} from '../../support/refunds.ts'
import { openStripeSale } from '../../support/stripe-sale.ts'
import { type StubEvent, signEvent } from '../../support/stub-stripe.ts'
import { ticketOf } from '../../support/tickets.ts'

// Money from Stripe is compared with the payment, which is over 22.00 EUR in each test.

let mismatches: Mismatch[]
const sale = shared(openStripeSale)
beforeEach(() => {
  mismatches = []
})

const nowhere = { redirect_url: null, error_url: null }
const beginPayment = async (more = {}) => {
  const checkout = await sale.checkOut(more)
  return { checkout, session: await sale.goToStripe(checkout) }
}
/** Alters the money in an event of Stripe's. */
const withMoney = (event: StubEvent, money: Record<string, unknown>): StubEvent => ({
  ...event,
  data: { object: { ...event.data.object, ...money } },
})
const giveBack = () => processDueRefunds(sale.db, sale.provider, (mismatch) => mismatches.push(mismatch))
const heldNow = async () => (await countersOf(sale)).rate_1?.held
const pageText = async (checkout: Checkout) => visibleText((await sale.buyer.view(checkout)).body)
const chargesOf = ({ payment_id }: Checkout) =>
  sale.db.select().from(charges).where(eq(charges.paymentId, payment_id))
const invoicesOf = ({ payment_id }: Checkout) => sale.db.$count(invoices, eq(invoices.paymentId, payment_id))

test.each([
  ['one cent', { amount_total: 1 }, { amount: 1, currency: 'EUR' }],
  ['one cent less', { amount_total: 2199 }, { amount: 2199, currency: 'EUR' }],
  ['as many yen', { currency: 'jpy' }, { amount: 2200, currency: 'JPY' }],
  ['more yen', { amount_total: 99_999, currency: 'jpy' }, { amount: 99_999, currency: 'JPY' }],
])('a wrong amount of %s fails the payment, is refunded and frees its places', async (_what, money, kept) => {
  const held = await heldNow()
  const { checkout, session } = await beginPayment(nowhere)
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
  expect(await pageText(checkout)).toMatch(
    /Your money goes back Your payment does not match the amount or the currency of the order, so you have no tickets\. All of it is given back/,
  )
  await giveBack()
  await giveBack()
  const [refund] = await refundRows(sale, checkout)
  expect(refund?.status).toBe('succeeded')
  const back = sale.fake.refunds.filter(({ metadata }) => Object(metadata).refund_id === refund?.id)
  expect(back).toMatchObject([{ amount: kept.amount }])
  // The payment's sums count only its own money.
  expect(await paymentRow(sale, checkout)).toMatchObject({
    status: 'failed',
    refundedAmount: 0,
    paidAt: null,
  })
  expect(await invoicesOf(checkout)).toBe(0)
})

test('a wrong amount is reported once, by ids and amount', async () => {
  const { checkout, session } = await beginPayment()
  await sale.deliver(withMoney(sale.fake.pay(session.id), { amount_total: 1 }))
  sale.fake.setFault('cut')
  await giveBack()
  sale.fake.setFault(null)
  await giveBack()
  const [refund] = await refundRows(sale, checkout)
  const { payment_id: paymentId } = checkout
  expect(mismatches).toEqual([
    { refundId: refund?.id, paymentId, chargeId: refund?.chargeId, amount: 1, currency: 'EUR' },
  ])
})

test('a wrong amount leads to error_url with AMOUNT_MISMATCH', async () => {
  const { checkout, session } = await beginPayment()
  await sale.deliver(withMoney(sale.fake.pay(session.id), { amount_total: 1 }))
  expect((await sale.buyer.view(checkout)).headers.location).toBe(
    `http://shop.example:8080/sorry?payment_id=${checkout.payment_id}&status=failed&code=AMOUNT_MISMATCH`,
  )
})

test('a wrong amount found by polling Stripe fails the payment', async () => {
  const { checkout, session } = await beginPayment()
  sale.fake.pay(session.id)
  session.amount_total = 1
  expect((await sale.comeBack(checkout)).headers.location).toContain('status=failed&code=AMOUNT_MISMATCH')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['failed', 'expired'])
  expect(await sale.refundsOf(checkout)).toEqual(['AMOUNT_MISMATCH pending 1'])
})

test('a wrong amount followed by the right one is paid', async () => {
  const { checkout, session } = await beginPayment(nowhere)
  const wrong = { ...session, id: `${session.id}b`, payment_intent: null, amount_total: 1 }
  sale.fake.sessions.set(wrong.id, wrong)
  await sale.deliver(sale.fake.pay(wrong.id), sale.fake.pay(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.refundsOf(checkout)).toEqual(['AMOUNT_MISMATCH pending 1'])
  await giveBack()
  expect(await paymentRow(sale, checkout)).toMatchObject({ status: 'paid', refundedAmount: 0 })
  expect(await invoicesOf(checkout)).toBe(1)
})

test('a wrong amount for a payment already paid, expired or cancelled is refunded and changes nothing else', async () => {
  const paid = await beginPayment()
  const second = { ...paid.session, id: `${paid.session.id}b`, payment_intent: null, amount_total: 1 }
  sale.fake.sessions.set(second.id, second)
  await sale.deliver(sale.fake.pay(paid.session.id), sale.fake.pay(second.id))
  const expired = await beginPayment()
  await sale.buyer.expire(expired.checkout)
  await sweepHolds(sale.db)
  const cancelled = await beginPayment()
  await cancelPayment(sale, cancelled.checkout.payment_id)
  for (const { session } of [expired, cancelled])
    await sale.deliver(withMoney(sale.fake.pay(session.id), { currency: 'jpy' }))
  await giveBack()
  const stateOf = async ({ checkout }: typeof paid) => {
    const { status, refundedAmount } = (await paymentRow(sale, checkout)) ?? {}
    return [status, refundedAmount, ...(await sale.refundsOf(checkout))]
  }
  expect(await stateOf(paid)).toEqual(['paid', 0, 'AMOUNT_MISMATCH succeeded 1'])
  expect(await stateOf(expired)).toEqual(['expired', 0, 'AMOUNT_MISMATCH succeeded 2200'])
  expect(await stateOf(cancelled)).toEqual(['cancelled', 0, 'AMOUNT_MISMATCH succeeded 2200'])
})

test('an overpayment is paid, its surplus refunded, and the price stays refundable', async () => {
  const { checkout, session } = await beginPayment(nowhere)
  session.amount_total = 2500
  await sale.deliver(sale.fake.pay(session.id))
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await chargesOf(checkout)).toMatchObject([{ amount: 2500, currency: 'EUR' }])
  expect(await sale.refundsOf(checkout)).toEqual(['AMOUNT_MISMATCH pending 300'])
  expect(await pageText(checkout)).toMatch(/Paid Your tickets are active\. You paid more than the price/)
  await giveBack()
  expect(mismatches).toMatchObject([{ paymentId: checkout.payment_id, amount: 300, currency: 'EUR' }])
  expect(await paymentRow(sale, checkout)).toMatchObject({ status: 'paid', refundedAmount: 0 })
  const { refund } = await refundTicket(sale, ticketOf(checkout))
  expect(refund).toMatchObject({ status: 'SUCCEEDED', amount: 22 })
  expect(await paymentRow(sale, checkout)).toMatchObject({ status: 'refunded', refundedAmount: 2200 })
})

test('an overpayment for a cancelled checkout is refunded whole', async () => {
  const { checkout, session } = await beginPayment()
  await cancelPayment(sale, checkout.payment_id)
  session.amount_total = 2500
  // Cancelling expired the session, but its buyer had just paid.
  await sale.deliver(sale.fake.pay(session.id))
  expect(await sale.refundsOf(checkout)).toEqual(['PAID_AFTER_CANCELLATION pending 2500'])
})

test('a wrong amount shows its refund and reason on the payment', async () => {
  const { checkout, session } = await beginPayment()
  await sale.deliver(withMoney(sale.fake.pay(session.id), { currency: 'jpy' }))
  const { data, errors } = await sale.graphql<{ payment: unknown }>(
    'query ($id: ID!) { payment(id: $id) { status refunds { reason amount { amount currency } ticket { id } } } }',
    { id: checkout.payment_id },
    sale.channel,
  )
  expect(errors).toBeUndefined()
  expect(data?.payment).toEqual({
    status: 'FAILED',
    refunds: [{ reason: 'AMOUNT_MISMATCH', amount: { amount: '2200', currency: 'JPY' }, ticket: null }],
  })
  const refused = await callMutation(
    sale,
    'refundTickets',
    { of: { ticketId: ticketOf(checkout) }, idempotencyKey: 'mismatch' },
    sale.integration.v2,
  )
  expect(JSON.stringify(refused.data)).toContain('ILLEGAL_TRANSITION')
})

test('control: the right amount is paid and refunds nothing', async () => {
  const { checkout, session } = await beginPayment()
  expect((await sale.send(signEvent(sale.fake.pay(session.id)))).statusCode).toBe(200)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.refundsOf(checkout)).toEqual([])
})
