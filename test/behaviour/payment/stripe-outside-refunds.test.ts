// Runs in: pglite, postgres

import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { stock } from '../../../src/domain/stock/table.ts'
import { findOpenWork } from '../../../src/domain/verify/find-open-work.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import * as refunds from '../../support/refunds.ts'
import { openStripeSale, type StripeSale } from '../../support/stripe-sale.ts'
import type { StubEvent } from '../../support/stub-stripe.ts'

// Money that goes back in Stripe's dashboard, before, beside and after refunds of our own. A ticket costs 22.

let sale: StripeSale
beforeAll(async () => {
  sale = await openStripeSale()
})
afterAll(() => sale.close())

async function pay(count = 1) {
  const checkout = await sale.checkOut({}, count)
  await sale.deliver(sale.fake.pay((await sale.goToStripe(checkout)).id))
  const charge = sale.fake.sessionFor(checkout.payment_id).payment_intent ?? ''
  return { checkout, charge, ids: checkout.tickets.map(({ _id }) => _id) }
}
const rowsOf = async (checkout: Checkout) => {
  const indexOf = (id: string | null) => checkout.tickets.findIndex(({ _id }) => _id === id)
  return (await refunds.refundRows(sale, checkout))
    .map(({ ticketId, reason, status, amount }) => `${indexOf(ticketId)} ${reason} ${status} ${amount}`)
    .toSorted()
}
const again = (type: string, event: StubEvent, more = {}) =>
  sale.fake.emitEvent(type, { ...event.data.object, ...more })
const openWork = async () => (await findOpenWork(sale.db, 10_000, 'stripe')).map(({ name }) => name)
const failedRefunds = 'refunds that failed'

test('a charge refunded in the dashboard is refunded here once, with its corrective invoices', async () => {
  const { checkout, charge, ids } = await pay(2)
  const event = sale.fake.refundInDashboard(charge)
  expect(await sale.deliver(event, event)).toEqual(['done', 'repeated'])
  // The provider tells of the same refund again, such as when its receipt has a number.
  expect(await sale.deliver(again('refund.updated', event))).toEqual(['done'])
  expect(await rowsOf(checkout)).toEqual(['0 AT_PROVIDER succeeded 2200', '1 AT_PROVIDER succeeded 2200'])
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({ status: 'refunded', refundedAmount: 4400 })
  for (const id of ids) {
    const { refundedAmount, correctiveInvoiceReferences } = (await refunds.ticketRow(sale, id)) ?? {}
    expect([refundedAmount, correctiveInvoiceReferences?.length]).toEqual([2200, 1])
  }
  const changes = await refunds.changeTypesOf(sale, checkout.payment_id)
  expect(changes.filter((type) => type === 'payment.refunded')).toHaveLength(2)
  const answer = await refunds.refundTicket(sale, ids[0] ?? '')
  expect(refunds.refusalCodes(answer)).toEqual([expect.stringMatching(/^REFUND_TOO_HIGH/)])
  expect(await openWork()).not.toContain(failedRefunds)
})

test('a part is of the ticket that has exactly this left, else of cancelled tickets first', async () => {
  const { checkout, charge, ids } = await pay(3)
  await refunds.cancelTicket(sale, ids[2] ?? '')
  await sale.deliver(sale.fake.refundInDashboard(charge, 500))
  expect(await rowsOf(checkout)).toEqual(['2 AT_PROVIDER succeeded 500'])
  await sale.deliver(sale.fake.refundInDashboard(charge, 2200), sale.fake.refundInDashboard(charge, 2000))
  expect(await rowsOf(checkout)).toEqual([
    ...['0 AT_PROVIDER succeeded 2200', '1 AT_PROVIDER succeeded 300'],
    ...['2 AT_PROVIDER succeeded 1700', '2 AT_PROVIDER succeeded 500'],
  ])
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({ status: 'partially_refunded' })
  expect((await refunds.refundTickets(sale, { paymentId: checkout.payment_id })).refunds).toMatchObject([
    { amount: 19, status: 'SUCCEEDED' },
  ])
})

test('a refund of what Stripe has given back already counts as done, and its event adds nothing', async () => {
  const { checkout, charge, ids } = await pay(2)
  const event = sale.fake.refundInDashboard(charge)
  expect((await refunds.refundTicket(sale, ids[0] ?? '')).refund).toMatchObject({ status: 'SUCCEEDED' })
  expect(await sale.deliver(event)).toEqual(['done'])
  expect(await rowsOf(checkout)).toEqual([...['0 REQUESTED succeeded 2200', '1 AT_PROVIDER succeeded 2200']])
})

test('a refund counts once it has succeeded, and is kept if it is reversed', async () => {
  const { checkout, charge } = await pay()
  const event = sale.fake.refundInDashboard(charge, 2200, 'pending')
  expect(await sale.deliver(event)).toEqual(['done'])
  expect(await rowsOf(checkout)).toEqual([])
  await processDueRefunds(sale.db, sale.provider)
  await sale.deliver(again('refund.updated', event, { status: 'succeeded' }))
  const reversed = { status: 'failed', failure_reason: 'expired_or_canceled_card' }
  await sale.deliver(again('refund.failed', event, reversed))
  expect(await rowsOf(checkout)).toEqual(['0 AT_PROVIDER succeeded 2200'])
  expect(sale.fake.refunds.filter(({ payment_intent }) => payment_intent === charge)).toHaveLength(1)
  const { data } = await sale.graphql(
    'query ($id: ID!) { payment(id: $id) { refunds { status failure { code message } } } }',
    { id: checkout.payment_id },
    sale.integration.v2,
  )
  const failure = { code: 'expired_or_canceled_card', message: 'The card has expired or was cancelled.' }
  expect(data).toEqual({ payment: { refunds: [{ status: 'SUCCEEDED', failure }] } })
})

test('a refund says why it failed, and needs nobody once the money went back in the dashboard', async () => {
  const { checkout, charge, ids } = await pay(2)
  sale.fake.setRefundStatus('failed')
  await refunds.refundTicket(sale, ids[1] ?? '')
  sale.fake.setRefundStatus('succeeded')
  sale.fake.refunds.pop()
  const { data } = await sale.graphql(
    'query ($id: ID!) { ticket(id: $id) { refunds { status failure { code message } } } }',
    { id: ids[1] },
    sale.integration.v2,
  )
  const message = 'The payment provider has refused, and does not say why.'
  expect(data).toEqual({ ticket: { refunds: [{ status: 'FAILED', failure: { code: 'failed', message } }] } })
  expect(await openWork()).toContain(failedRefunds)
  await sale.deliver(sale.fake.refundInDashboard(charge, 2200))
  expect(await rowsOf(checkout)).toEqual(['1 AT_PROVIDER succeeded 2200', '1 REQUESTED failed 2200'])
  expect(await openWork()).not.toContain(failedRefunds)
})

test('money that bought nothing, and that Stripe did not refund, can go back in the dashboard', async () => {
  const checkout = await sale.checkOut()
  const session = await sale.goToStripe(checkout)
  await sale.buyer.expire(checkout)
  await sweepHolds(sale.db)
  const rate = eq(stock.id, 'rate_1')
  await sale.db
    .update(stock)
    .set({ capacity: sql`${stock.sold} + ${stock.held}` })
    .where(rate)
  await sale.deliver(sale.fake.pay(session.id))
  await sale.db.update(stock).set({ capacity: 100 }).where(rate)
  sale.fake.setRefundStatus('failed')
  await processDueRefunds(sale.db, sale.provider)
  sale.fake.setRefundStatus('succeeded')
  sale.fake.refunds.pop()
  expect(await rowsOf(checkout)).toEqual(['-1 LATE_NO_CAPACITY failed 2200'])
  expect(await openWork()).toContain(failedRefunds)
  const charge = sale.fake.sessionFor(checkout.payment_id).payment_intent ?? ''
  await sale.deliver(sale.fake.refundInDashboard(charge))
  expect(await rowsOf(checkout)).toEqual([
    ...['-1 LATE_NO_CAPACITY failed 2200', '-1 LATE_NO_CAPACITY succeeded 2200'],
  ])
  expect((await refunds.paymentRow(sale, checkout))?.status).toBe('refunded')
  expect(await openWork()).not.toContain(failedRefunds)
})

test('refunds of other charges, and those that no one can read, are ignored', async () => {
  const object = { id: 're_x', status: 'succeeded', amount: 100, currency: 'eur', payment_intent: 'pi_x' }
  const odd = [
    {},
    { payment_intent: null },
    { amount: -1 },
    { amount: 0.5 },
    { currency: 'e' },
    { metadata: {} },
  ]
  for (const more of odd)
    expect(await sale.deliver(sale.fake.emitEvent('refund.created', { ...object, ...more }))).toEqual([
      'ignored',
    ])
})

test('however refunds of both sides meet, no more goes back here than at Stripe', async () => {
  const draw = (count: number) => Math.floor(Math.random() * count)
  for (let drawn = 0; drawn < 6; drawn++) {
    const { checkout, charge, ids } = await pay(1 + draw(3))
    const waiting: StubEvent[] = []
    const said: string[] = []
    const backAtStripe = () =>
      sale.fake.refunds
        .filter(({ payment_intent }) => payment_intent === charge)
        .reduce((sum, { amount }) => sum + amount, 0)
    for (let step = 0; step < 6; step++) {
      const left = ids.length * 2200 - backAtStripe()
      const amount = Math.min(left, [500, 2200, left][draw(3)] ?? 0)
      const act = draw(3)
      said.push(`${act} ${amount}`)
      if (act === 0 && amount > 0) waiting.push(sale.fake.refundInDashboard(charge, amount))
      if (act === 1)
        await refunds.refundTicket(sale, ids[draw(ids.length)] ?? '', draw(2) ? { amount: 5 } : {})
      if (act === 2) await Promise.all(waiting.splice(0).map((event) => sale.deliver(event)))
    }
    await Promise.all([...waiting, ...waiting].map((event) => sale.deliver(event)))
    expect((await refunds.paymentRow(sale, checkout))?.refundedAmount, said.join(', ')).toBe(backAtStripe())
  }
  expect(await brokenInvariants(sale.db)).toEqual([])
})
