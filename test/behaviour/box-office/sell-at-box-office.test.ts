import { eq, sql } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { webhookDeliveries, webhooks } from '../../../src/domain/change/table.ts'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { events } from '../../../src/domain/event/table.ts'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { charges, payments } from '../../../src/domain/payment/table.ts'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { closeSessions } from '../../../src/domain/sale/settle/provider-session.ts'
import {
  aBuyer,
  asCheckout,
  callOwn,
  mustSell,
  problemsOf,
  sellAtBoxOffice,
} from '../../support/box-office.ts'
import { boxOfficeCatalogue, oneOf } from '../../support/box-office-catalogue.ts'
import { readChanges } from '../../support/change-feed.ts'
import { anEntry, checkOut, countersOf } from '../../support/checkouts.ts'
import { integrationHeaders } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { movePayments } from '../../support/queued-payments.ts'
import { changeTypesOf, paymentRow } from '../../support/refunds.ts'
import { countCheckoutRows } from '../../support/refusals.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { holdTickets } from '../../support/tickets.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// Tickets that an organization sells at its own door.

const providerCalls: string[] = []
const called = (name: string) => async () => {
  providerCalls.push(name)
  throw new Error('the provider was called')
}
const provider = stubProvider({
  charge: called('charge'),
  getSession: called('getSession'),
  expireSession: called('expireSession'),
  refund: called('refund'),
})

const sale = sharedSale(boxOfficeCatalogue, { provider })
afterAll(async () => expect(await brokenInvariants(sale.db)).toEqual([]))

test('a sale at the box office is paid at once, with an invoice, a charge and a document', async () => {
  const sold = await sellAtBoxOffice(sale, {
    ticketRateId: 'rate_1',
    tickets: [
      aBuyer('price_1', { supplements: [{ supplementId: 'sup_1' }], warranty: true, qrCode: 'DOOR-1' }),
      aBuyer('price_1', { fullName: 'Bo', phone: '+34600000000' }),
    ],
    method: 'CARD',
    reference: ' Terminal 3 / 0012 ',
    language: 'de-AT',
  })
  // 20 + 2.5 + a fee of 2 + a warranty of 10 % of 22.5, and 20 + 2.
  expect(sold).toMatchObject({
    __typename: 'SellAtBoxOfficePayload',
    replayed: false,
  })
  expect(sold.payment).toEqual({
    id: expect.stringMatching(/^pay_/),
    status: 'PAID',
    saleType: 'BOX_OFFICE',
    boxOffice: { method: 'CARD', reference: 'Terminal 3 / 0012' },
    totalAmount: 48.75,
    refunded: 0,
    invoiceReference: expect.stringMatching(/^F\d{4}-\d{6}$/),
    paidAt: expect.any(String),
    conditionsChanged: false,
    pageUrl: null,
  })
  expect(sold.tickets.map(({ attendee }) => attendee.fullName)).toEqual(['Ana Núñez', 'Bo'])
  expect(sold.tickets[0]).toEqual({
    id: expect.stringMatching(/^tkt_/),
    status: 'ACTIVATED',
    saleType: 'BOX_OFFICE',
    qrCode: 'DOOR-1',
    attendee: { fullName: 'Ana Núñez', email: 'ana@example.com', phone: null, language: 'de' },
    price: { id: 'price_1', price: 20 },
    amounts: { price: 20, discount: 0, supplements: 2.5, fees: 2, warranty: 2.25, total: 26.75 },
    settlement: { paid: 26.75, refunded: 0, commission: 1, net: 25.75 },
    channel: null,
    admits: 4,
    documentUrl: expect.stringMatching(/\/tickets\/[\w-]{64,}\.pdf$/),
    activatedAt: sold.payment.paidAt,
    invoiceReference: sold.payment.invoiceReference,
    supplements: [{ supplementId: 'sup_1' }],
  })
  expect(await sale.db.select().from(charges).where(eq(charges.paymentId, sold.payment.id))).toEqual([
    expect.objectContaining({
      provider: 'box_office',
      reference: sold.payment.id,
      amount: 4875,
      currency: 'EUR',
    }),
  ])
  expect(await sale.db.select().from(invoices).where(eq(invoices.paymentId, sold.payment.id))).toEqual([
    expect.objectContaining({ kind: 'invoice', amount: 4875 }),
  ])
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 2, held: 0 })
  expect(await sale.db.$count(deliveries)).toBe(0)

  const pdf = await sale.app.inject(new URL(sold.tickets[0]?.documentUrl ?? '').pathname)
  expect([pdf.statusCode, pdf.headers['content-type']]).toEqual([200, 'application/pdf'])
  const lookup = await sale.rest('GET', `/integrations/tickets/${sold.tickets[0]?.id}`, {
    headers: sale.integration.v1,
  })
  expect(lookup.json().data).toMatchObject({
    sale_type: 'box_office',
    status: 'activated',
    total_paid: 26.75,
  })
})

test('a ticket of the box office is in the language of the organization if none is named', async () => {
  expect((await mustSell(sale)).tickets[0]).toMatchObject({ attendee: { language: 'es' } })
})

test('the payment page of a sale at the box office shows that it is paid, and asks no provider', async () => {
  const sold = await mustSell(sale)
  const row = await paymentRow(sale, asCheckout(sold))
  const url = `/pay/${row?.pageToken}`
  for (const action of [null, 'pay', 'cancel']) {
    const page = await sale.app.inject(
      action
        ? {
            method: 'POST',
            url,
            payload: `action=${action}`,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          }
        : { url },
    )
    expect(page.statusCode).toBeLessThan(400)
  }
  expect((await sale.app.inject({ url })).body).not.toMatch(/name="action"/)
  expect(await paymentRow(sale, asCheckout(sold))).toMatchObject({
    status: 'paid',
    provider: 'box_office',
    sessionId: null,
    sessionOpen: false,
  })
})

test('background jobs ask no provider about the box office', async () => {
  const sold = await mustSell(sale)
  await movePayments(sale.db, eq(payments.id, sold.payment.id), { expiresAt: sql`now() - interval '1 hour'` })
  await sweepHolds(sale.db)
  await closeSessions({ db: sale.db, provider })
  await processDueRefunds(sale.db, provider)
  expect(await paymentRow(sale, asCheckout(sold))).toMatchObject({
    status: 'paid',
  })
  expect(providerCalls).toEqual([])
})

test('a free ticket of the box office has neither an invoice nor a charge', async () => {
  const { payment } = await mustSell(sale, { method: 'OTHER', reference: 'Voucher' }, 'rate_free')
  expect(payment).toMatchObject({
    status: 'PAID',
    totalAmount: 0,
    boxOffice: { method: 'OTHER', reference: 'Voucher' },
    invoiceReference: null,
  })
  expect(await sale.db.$count(charges, eq(charges.paymentId, payment.id))).toBe(0)
})

test('a price step is used up at the box office as it is online, and the next one follows', async () => {
  const expensive = await sellAtBoxOffice(sale, {
    ticketRateId: 'rate_steps',
    tickets: [aBuyer('price_first'), aBuyer('price_first')],
  })
  expect(problemsOf(expensive)).toEqual(['INSUFFICIENT_AVAILABILITY items.0.tickets.1.priceId 1'])
  expect(await mustSell(sale, { tickets: [aBuyer('price_first')] }, 'rate_steps')).toMatchObject({
    payment: { totalAmount: 11 },
  })
  const next = { ticketRateId: 'rate_steps', tickets: [aBuyer('price_first')] }
  expect(problemsOf(await sellAtBoxOffice(sale, { ...next, expectedTotal: 11 }))).toEqual([
    'TOTAL_INCREASED expectedTotal 22',
  ])
  const sold = await sellAtBoxOffice(sale, { ...next, expectedTotal: 22 })
  expect(sold.payment).toMatchObject({ conditionsChanged: true, totalAmount: 22 })
  expect(sold.tickets[0]).toMatchObject({ price: { id: 'price_then' } })
  expect(
    (await checkOut(sale, { ticket_rate_id: 'rate_steps', tickets: [anEntry('price_first')] })).json().data,
  ).toMatchObject({
    conditions_changed: true,
  })
})

test('a discount counts at the box office as it does online', async () => {
  const sold = await mustSell(sale, { discountCode: 'half' })
  expect(sold).toMatchObject({ payment: { totalAmount: 11 }, tickets: [{ amounts: { discount: 10 } }] })
  await mustSell(sale, { discountCode: 'ONCE' })
  const online = await checkOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: [anEntry('price_1')],
    discount_code: 'ONCE',
  })
  expect(restProblems(online)).toEqual(['DISCOUNT_USED_UP discount_code'])
})

test('the last place goes to the box office once an unpaid hold has expired', async () => {
  const { payment_id } = await holdTickets(sale, { rate: 'held' })
  const input = { ticketRateId: 'rate_held', tickets: [aBuyer('price_held')] }
  expect(problemsOf(await sellAtBoxOffice(sale, input))).toEqual(['SOLD_OUT items.0.tickets 0'])
  await movePayments(sale.db, eq(payments.id, payment_id), { expiresAt: sql`now()` })
  const sold = await sellAtBoxOffice(sale, input)
  expect(sold.payment.status).toBe('PAID')
  expect(await changeTypesOf(sale, 'rate_held')).toEqual(['rate.sold_out', 'rate.available', 'rate.sold_out'])
})

test('a blank reference and a blank discount code count as absent', async () => {
  const sold = await mustSell(sale, { reference: ' ', discountCode: '' })
  expect(sold.payment.boxOffice).toEqual({ method: 'CASH', reference: null })
  expect(sold.tickets[0]?.amounts.discount).toBe(0)
})

test('the box office sells while the event runs, and no longer once it has ended', async () => {
  const online = await checkOut(sale, { ticket_rate_id: 'rate_running', tickets: [anEntry('price_running')] })
  expect(restProblems(online)).toEqual(['EVENT_STARTED ticket_rate_id'])
  expect((await mustSell(sale, {}, 'rate_running')).payment.status).toBe('PAID')
  const [ended] = await sale.db
    .update(events)
    .set({ endDate: sql`now()` })
    .where(eq(events.id, 'evt_running'))
    .returning()
  expect(problemsOf(await sellAtBoxOffice(sale, oneOf('rate_running')))).toEqual([
    `SALE_ENDED items.0.ticketRateId ${ended?.endDate.toISOString()}`,
  ])
})

test('a channel, an integration of another organization and a stranger can not sell at the box office', async () => {
  const before = await countCheckoutRows(sale)
  const input = { ...oneOf('rate_1'), method: 'CASH' }
  const codes = async (headers: Record<string, string>) =>
    (await callOwn(sale, 'sellAtBoxOffice', input, headers)).errors?.map(({ extensions }) => extensions?.code)
  expect(await codes(sale.channel)).toEqual(['FORBIDDEN'])
  expect(await codes({})).toEqual(['UNAUTHENTICATED'])
  const { v2 } = await integrationHeaders(sale.db, 'org_2')
  expect(problemsOf(await sellAtBoxOffice(sale, oneOf('rate_1'), v2))).toEqual([
    'NOT_FOUND items.0.ticketRateId',
  ])
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test('a sale under the same idempotency key is made once, and its repetition says so', async () => {
  const input = oneOf('rate_plain', { idempotencyKey: 'till-1/0001', reference: '1' })
  const first = await sellAtBoxOffice(sale, input)
  const again = await sellAtBoxOffice(sale, input)
  expect(again).toEqual({ ...first, replayed: true })
  expect((await countersOf(sale)).rate_plain).toEqual({ sold: 1, held: 0 })
  for (const other of [{ reference: '2' }, { method: 'CARD' }, { language: 'fr' }])
    expect(problemsOf(await sellAtBoxOffice(sale, { ...input, ...other }))).toEqual([
      'IDEMPOTENCY_KEY_REUSED idempotencyKey',
    ])
  // A key is its sender's own.
  const { v2 } = await integrationHeaders(sale.db)
  expect(await sellAtBoxOffice(sale, input, v2)).toMatchObject({ replayed: false })
  const online = { ticket_rate_id: 'rate_plain', tickets: [anEntry('price_plain')] }
  expect((await checkOut(sale, online, { 'idempotency-key': 'till-1/0001' })).statusCode).toBe(200)
})

test('a refused sale keeps no idempotency key', async () => {
  const input = oneOf('rate_plain', { idempotencyKey: 'till-1/0002', expectedTotal: 1 })
  expect((await sellAtBoxOffice(sale, input)).__typename).toBe('Refused')
  expect(await sellAtBoxOffice(sale, { ...input, expectedTotal: 22 })).toMatchObject({
    replayed: false,
  })
})

test('the changes of a sale at the box office reach the organization, and no channel', async () => {
  const hooks = await Promise.all(
    [sale.integration.v2, sale.channel].map((headers, index) =>
      webhooksOf(sale, headers).register(`https://hooks.example/${index}`),
    ),
  )
  const { payment, tickets } = await mustSell(sale)
  expect(await changeTypesOf(sale, payment.id)).toEqual(['payment.paid'])
  const sent = await sale.db.select().from(webhookDeliveries)
  expect(hooks.map(({ id }) => sent.filter(({ webhookId }) => webhookId === id).length)).toEqual([2, 0])
  await sale.db.delete(webhookDeliveries)
  await sale.db.delete(webhooks)
  expect(await changeTypesOf(sale, tickets[0]?.id ?? '')).toEqual(['ticket.activated'])
  const heard = async (headers: Record<string, string>) =>
    (await readChanges(sale, headers, null, 100)).nodes.map(({ subjectId }) => subjectId)
  expect(await heard(sale.integration.v2)).toContain(payment.id)
  const ofChannel = await heard(sale.channel)
  expect(ofChannel).toContain('rate_held')
  for (const id of [payment.id, ...tickets.map(({ id }) => id)]) expect(ofChannel).not.toContain(id)
  const seen = `query ($id: ID!, $payment: ID!) { ticket(id: $id) { id } payment(id: $payment) { id } }`
  const { data } = await sale.graphql(seen, { id: tickets[0]?.id, payment: payment.id }, sale.channel)
  expect(data).toEqual({ ticket: null, payment: null })
})
