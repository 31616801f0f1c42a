// Runs in: postgres, slow-forms

import { asc, eq } from 'drizzle-orm'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { aBuyer, asCheckout, mustSell } from '../../support/box-office.ts'
import { countersOf } from '../../support/checkouts.ts'
import { money } from '../../support/contract-input.ts'
import { anEvent, aRateNamed, integrationHeaders } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { buyTickets, ticketOf } from '../../support/tickets.ts'

// Refunds of what the box office took: the organization gives the money back by hand.

let providerCalls = 0
const called = async () => {
  providerCalls++
  return { kind: 'succeeded' as const, reference: `re_${providerCalls}` }
}
const provider = stubProvider({ refund: called })

const rate = aRateNamed('1', { warranty: { enabled: true, percentage: 10, hours: 0 } })
const free = aRateNamed('free', {}, { price: 0 })
const sale = sharedSale({ events: [anEvent({ ticket_rates: [rate, free] })], provider })
beforeEach(() => {
  providerCalls = 0
})
afterAll(async () => expect(await brokenInvariants(sale.db)).toEqual([]))

const invoicesOf = (paymentId: string) =>
  sale.db.select().from(invoices).where(eq(invoices.paymentId, paymentId)).orderBy(asc(invoices.createdAt))

test('a refund of the box office is recorded as succeeded at once, and no provider hears of it', async () => {
  const sold = await mustSell(sale, { tickets: [aBuyer('price_1'), aBuyer('price_1')] })
  const counters = await countersOf(sale)
  const id = sold.tickets[0]?.id ?? ''
  const { refund } = await refunds.refundTicket(sale, id, { amount: 7.5 })
  expect(refund).toMatchObject({
    amount: 7.5,
    reason: 'REQUESTED',
    status: 'SUCCEEDED',
    succeededAt: expect.any(String),
    ticket: { id, status: 'ACTIVATED', settlement: { refunded: 7.5 } },
  })
  expect(await refunds.refundRows(sale, asCheckout(sold))).toEqual([
    expect.objectContaining({ id: refund?.id, status: 'succeeded', reference: refund?.id, lastError: null }),
  ])
  expect(await refunds.paymentRow(sale, asCheckout(sold))).toMatchObject({
    status: 'partially_refunded',
    refundedAmount: 750,
  })
  const rest = await refunds.refundTicket(sale, id)
  expect(rest.refund).toMatchObject({ amount: 14.5, status: 'SUCCEEDED' })
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, id))).toEqual(['REFUND_TOO_HIGH of 0'])
  await refunds.refundTicket(sale, sold.tickets[1]?.id ?? '')
  expect(await refunds.paymentRow(sale, asCheckout(sold))).toMatchObject({
    status: 'refunded',
    refundedAmount: 4400,
  })
  expect((await invoicesOf(sold.payment.id)).map(({ kind, amount }) => `${kind} ${amount}`).sort()).toEqual([
    'corrective 1450',
    'corrective 2200',
    'corrective 750',
    'invoice 4400',
  ])
  expect((await refunds.ticketRow(sale, id))?.correctiveInvoiceReferences).toHaveLength(2)
  expect(await refunds.changeTypesOf(sale, sold.payment.id)).toEqual([
    'payment.paid',
    ...Array.from({ length: 3 }, () => 'payment.refunded'),
  ])
  expect(await countersOf(sale)).toEqual(counters)
  await processDueRefunds(sale.db, provider)
  expect(providerCalls).toBe(0)
})

test('a refund of the box office is made once under an idempotency key', async () => {
  const sold = await mustSell(sale)
  const id = sold.tickets[0]?.id ?? ''
  const ask = () => refunds.refundTicket(sale, id, { amount: 1, idempotencyKey: `back-${id}` })
  const [first, second] = await Promise.all([ask(), ask()])
  expect(second).toEqual({ ...first, replayed: !first.replayed })
  expect(await refunds.refundRows(sale, asCheckout(sold))).toHaveLength(1)
  const other = await refunds.refundTicket(sale, id, { amount: 2, idempotencyKey: `back-${id}` })
  expect(refunds.refusalCodes(other)).toEqual(['IDEMPOTENCY_KEY_REUSED idempotencyKey'])
  expect(providerCalls).toBe(0)
})

test('a refund of the box office is for integrations of its organization, and its warranty for nobody', async () => {
  const sold = await mustSell(sale, { tickets: [aBuyer('price_1', { warranty: true })] })
  const id = sold.tickets[0]?.id ?? ''
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, id))).toEqual(['NOT_FOUND ticketId'])
  const input = { of: { ticketId: id }, idempotencyKey: `back-${id}` }
  const byChannel = await refunds.callMutation(sale, 'refundTickets', input, sale.channel)
  expect(byChannel.errors?.map(({ extensions }) => extensions?.code)).toEqual(['FORBIDDEN'])
  expect(await refunds.refundRows(sale, asCheckout(sold))).toEqual([])
  // Any integration of the organization may, whichever sold it.
  const { v2 } = await integrationHeaders(sale.db)
  const { data } = await refunds.callMutation(sale, 'refundTickets', input, v2)
  expect(data?.refundTickets?.refunds?.[0]).toMatchObject({ amount: money(24), status: 'SUCCEEDED' })
})

test('a ticket of the box office is cancelled and refunded by two verbs, in any order', async () => {
  for (const order of [
    ['cancel', 'refund'],
    ['refund', 'cancel'],
  ]) {
    const { tickets } = await mustSell(sale)
    const id = tickets[0]?.id ?? ''
    for (const verb of order)
      if (verb === 'refund') expect((await refunds.refundTicket(sale, id)).refund?.status).toBe('SUCCEEDED')
      else
        expect((await refunds.cancelTicket(sale, id, sale.integration.v2)).ticket?.status).toBe('CANCELLED')
  }
  expect(providerCalls).toBe(0)
})

test('nothing of a free ticket of the box office can be refunded', async () => {
  const { tickets } = await mustSell(sale, {}, 'rate_free')
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, tickets[0]?.id ?? ''))).toEqual([
    'REFUND_TOO_HIGH of 0',
  ])
})

test('control: a refund of a ticket sold online is sent to the provider', async () => {
  const checkout = await buyTickets(sale)
  expect((await refunds.refundTicket(sale, ticketOf(checkout))).refund?.status).toBe('SUCCEEDED')
  expect(providerCalls).toBe(1)
})
