import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { events } from '../../../src/domain/event/table.ts'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { charges, payments } from '../../../src/domain/payment/table.ts'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { closeSessions } from '../../../src/domain/sale/settle/provider-session.ts'
import { webhookDeliveries, webhooks } from '../../../src/domain/webhook/table.ts'
import {
  aBuyer,
  asCheckout,
  callOwn,
  mustSell,
  problemsOf,
  sellAtBoxOffice,
} from '../../support/box-office.ts'
import { readChanges } from '../../support/change-feed.ts'
import { anEntry, checkOut, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
  inDays,
  integrationHeaders,
} from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { movePayments } from '../../support/queued-payments.ts'
import { changeTypesOf, paymentRow } from '../../support/refunds.ts'
import { countCheckoutRows } from '../../support/refusals.ts'
import { openSale, restProblems, type Sale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// Tickets that an organization sells at its own door.

const year = new Date().getUTCFullYear() + 4
const price = (_id: string, more = {}) => aPrice({ _id, ...more })
const places = (available: number) => ({ sold: 0, available })

const catalogue = aCatalogue({
  organizations: [
    anOrganization({
      language: 'es',
      discounts: [
        { _id: 'dsc_half', code: 'HALF', name: 'Half', percentage: 50 },
        { _id: 'dsc_once', code: 'ONCE', name: 'Once', amount: 5, quantity: 1 },
        { _id: 'dsc_old', code: 'OLD', name: 'Old', amount: 5, valid_until: '2020-01-01T00:00:00Z' },
        { _id: 'dsc_other', code: 'OTHER', name: 'Other', amount: 5, ticket_rate_ids: ['rate_free'] },
      ],
    }),
    anOrganization({ _id: 'org_2', name: 'Stranger' }),
  ],
  events: [
    anEvent({
      _id: 'evt_1',
      age: '+18',
      start_date: `${year}-06-01T22:30:00Z`,
      end_date: `${year}-06-02T04:00:00Z`,
      ticket_rates: [
        aRate({
          _id: 'rate_1',
          admits: 4,
          warranty: { enabled: true, percentage: 10, hours: 24 },
          prices: [price('price_1')],
          supplements: [aSupplement({ _id: 'sup_1' })],
        }),
        aRate({ _id: 'rate_free', prices: [price('price_free', { price: 0 })] }),
        aRate({
          _id: 'rate_steps',
          prices: [price('price_first', { price: 10, quantity: 1 }), price('price_then')],
        }),
        aRate({
          _id: 'rate_asks',
          prices: [price('price_asks')],
          questions: [aQuestion({ _id: 'que_1', required: true })],
        }),
        aRate({ _id: 'rate_few', min: 2, max: 3, prices: [price('price_few')] }),
        aRate({ _id: 'rate_two', availability: places(2), prices: [price('price_two')] }),
        aRate({ _id: 'rate_none', availability: places(0), prices: [price('price_none')] }),
        aRate({ _id: 'rate_held', availability: places(1), prices: [price('price_held')] }),
        aRate({ _id: 'rate_closed', complete: true, prices: [price('price_closed')] }),
        aRate({
          _id: 'rate_early',
          valid_from: `${year}-01-01T00:00:00.000Z`,
          prices: [price('price_early')],
        }),
        aRate({ _id: 'rate_over', prices: [price('price_over', { valid_until: '2020-01-01T00:00:00Z' })] }),
        aRate({ _id: 'rate_capped', prices: [price('price_capped', { quantity: 1 })] }),
        aRate({ _id: 'rate_plain', prices: [price('price_plain')] }),
      ],
    }),
    anEvent({
      _id: 'evt_running',
      start_date: inDays(-1),
      end_date: inDays(1),
      ticket_rates: [aRate({ _id: 'rate_running', prices: [price('price_running')] })],
    }),
    anEvent({
      organization_id: 'org_2',
      location_id: null,
      ticket_rates: [aRate({ _id: 'rate_strange', prices: [price('price_strange')] })],
    }),
  ],
})

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

let sale: Sale
beforeAll(async () => {
  sale = await openSale(catalogue, { provider })
})
afterAll(async () => {
  expect(await brokenInvariants(sale.db)).toEqual([])
  await sale.close()
})

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
    __typename: 'BoxOfficePayload',
    totalAmount: 48.75,
    idempotentReplayed: false,
  })
  expect(sold.payment).toEqual({
    id: expect.stringMatching(/^pay_/),
    status: 'PAID',
    method: 'CARD',
    methodReference: 'Terminal 3 / 0012',
    totalAmount: 48.75,
    currency: 'EUR',
    refundedAmount: 0,
    invoiceReference: expect.stringMatching(/^F\d{4}-\d{6}$/),
    paidAt: expect.any(String),
    conditionsChanged: false,
    url: null,
  })
  expect(sold.tickets.map(({ fullName }) => fullName)).toEqual(['Ana Núñez', 'Bo'])
  expect(sold.tickets[0]).toEqual({
    id: expect.stringMatching(/^tkt_/),
    status: 'ACTIVATED',
    saleType: 'BOX_OFFICE',
    qrCode: 'DOOR-1',
    fullName: 'Ana Núñez',
    email: 'ana@example.com',
    phone: null,
    priceId: 'price_1',
    price: { id: 'price_1', price: 20 },
    priceInfo: { price: 20 },
    totalPrice: 26.75,
    totalPaid: 26.75,
    totalFees: 2,
    discountQuantitySubtract: 0,
    raised: 25.75,
    channelId: 'org_1',
    language: 'de',
    for: 4,
    documentUrl: expect.stringMatching(/\/tickets\/[\w-]{64,}\.pdf$/),
    activationDate: sold.payment.paidAt,
    invoiceReference: sold.payment.invoiceReference,
    supplements: [{ id: 'sup_1' }],
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
  expect((await mustSell(sale)).tickets[0]).toMatchObject({ language: 'es' })
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
  const { payment, totalAmount } = await mustSell(
    sale,
    { method: 'OTHER', reference: 'Voucher' },
    'rate_free',
  )
  expect(totalAmount).toBe(0)
  expect(payment).toMatchObject({ status: 'PAID', method: 'OTHER', invoiceReference: null })
  expect(await sale.db.$count(charges, eq(charges.paymentId, payment.id))).toBe(0)
})

test('a price step is used up at the box office as it is online, and the next one follows', async () => {
  const expensive = await sellAtBoxOffice(sale, {
    ticketRateId: 'rate_steps',
    tickets: [aBuyer('price_first'), aBuyer('price_first')],
  })
  expect(problemsOf(expensive)).toEqual(['INSUFFICIENT_AVAILABILITY tickets.1.priceId 1'])
  expect(await mustSell(sale, { tickets: [aBuyer('price_first')] }, 'rate_steps')).toMatchObject({
    totalAmount: 11,
  })
  const next = { ticketRateId: 'rate_steps', tickets: [aBuyer('price_first')] }
  expect(problemsOf(await sellAtBoxOffice(sale, { ...next, expectedTotal: 11 }))).toEqual([
    'TOTAL_INCREASED expectedTotal 22',
  ])
  const sold = await sellAtBoxOffice(sale, { ...next, expectedTotal: 22 })
  expect(sold.payment).toMatchObject({ conditionsChanged: true, totalAmount: 22 })
  expect(sold.tickets[0]).toMatchObject({ priceId: 'price_then' })
  expect(
    (await checkOut(sale, { ticket_rate_id: 'rate_steps', tickets: [anEntry('price_first')] })).json().data,
  ).toMatchObject({
    conditions_changed: true,
  })
})

test('a discount counts at the box office as it does online', async () => {
  const sold = await mustSell(sale, { discountCode: 'half' })
  expect(sold).toMatchObject({ totalAmount: 11, tickets: [{ discountQuantitySubtract: 10 }] })
  await mustSell(sale, { discountCode: 'ONCE' })
  const online = await checkOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: [anEntry('price_1')],
    discount_code: 'ONCE',
  })
  expect(restProblems(online)).toEqual(['DISCOUNT_USED_UP discount_code'])
})

test('the last place goes to the box office once an unpaid hold has expired', async () => {
  const { payment_id } = await mustCheckOut(sale, {
    ticket_rate_id: 'rate_held',
    tickets: [anEntry('price_held')],
  })
  const input = { ticketRateId: 'rate_held', tickets: [aBuyer('price_held')] }
  expect(problemsOf(await sellAtBoxOffice(sale, input))).toEqual(['SOLD_OUT tickets 0'])
  await movePayments(sale.db, eq(payments.id, payment_id), { expiresAt: sql`now()` })
  const sold = await sellAtBoxOffice(sale, input)
  expect(sold.payment.status).toBe('PAID')
  expect(await changeTypesOf(sale, 'rate_held')).toEqual(['rate.sold_out', 'rate.available', 'rate.sold_out'])
})

const one = (rate: string, more: Record<string, unknown> = {}, entry: Record<string, unknown> = {}) => ({
  ticketRateId: rate,
  tickets: [aBuyer(rate.replace('rate', 'price'), entry)],
  ...more,
})
const many = (rate: string, count: number) => ({
  ticketRateId: rate,
  tickets: Array.from({ length: count }, () => aBuyer(rate.replace('rate', 'price'))),
})

test.each<[problem: string, input: Record<string, unknown>]>([
  ['NOT_FOUND ticketRateId', one('rate_absent')],
  ['NOT_FOUND ticketRateId', one('rate_strange')],
  ['RATE_CLOSED ticketRateId', one('rate_closed')],
  [`NOT_ON_SALE_YET ticketRateId ${year}-01-01T00:00:00.000Z`, one('rate_early')],
  ['SALE_ENDED ticketRateId 2020-01-01T00:00:00.000Z', one('rate_over')],
  ['SOLD_OUT tickets 0', one('rate_none')],
  ['INSUFFICIENT_AVAILABILITY tickets 2', many('rate_two', 3)],
  ['INSUFFICIENT_AVAILABILITY tickets.1.priceId 1', many('rate_capped', 2)],
  ['MIN_TICKETS tickets 2 3', one('rate_few')],
  ['MAX_TICKETS tickets 2 3', many('rate_few', 4)],
  ['MIN_TICKETS tickets 1 50', many('rate_1', 0)],
  ['MAX_TICKETS tickets 1 50', many('rate_1', 51)],
  ['PRICE_NOT_IN_RATE tickets.0.priceId', { ...one('rate_1'), tickets: [aBuyer('price_free')] }],
  [
    'SUPPLEMENT_NOT_IN_RATE tickets.0.supplements.0.supplementId',
    one('rate_free', {}, { supplements: [{ supplementId: 'sup_1' }] }),
  ],
  ['ANSWER_REQUIRED tickets.0.answers', one('rate_asks')],
  [
    'ANSWER_NOT_AN_ITEM tickets.0.answers.0.answer',
    one('rate_asks', {}, { answers: [{ questionId: 'que_1', answer: 'x' }] }),
  ],
  ['WARRANTY_NOT_OFFERED tickets.0.warranty', one('rate_free', {}, { warranty: true })],
  ['UNDER_AGE tickets.0.birthday 18', one('rate_1', {}, { birthday: `${year - 17}-01-01` })],
  ['QR_CODE_TAKEN tickets.0.qrCode', one('rate_1', {}, { qrCode: 'DOOR-1' })],
  [
    'DUPLICATE_QR_CODE tickets.1.qrCode',
    { ...one('rate_1'), tickets: [aBuyer('price_1', { qrCode: 'X' }), aBuyer('price_1', { qrCode: 'X' })] },
  ],
  ['DISCOUNT_UNKNOWN discountCode', one('rate_1', { discountCode: 'NONE' })],
  ['DISCOUNT_NOT_VALID discountCode 2020-01-01T00:00:00.000Z', one('rate_1', { discountCode: 'OLD' })],
  ['DISCOUNT_NOT_FOR_RATE discountCode', one('rate_1', { discountCode: 'OTHER' })],
  ['DISCOUNT_USED_UP discountCode 0', one('rate_1', { discountCode: 'ONCE' })],
  ['TOTAL_INCREASED expectedTotal 22', one('rate_1', { expectedTotal: 21.99 })],
  ['INVALID expectedTotal', one('rate_1', { expectedTotal: -1 })],
  ['INVALID reference', one('rate_1', { reference: 'x'.repeat(101) })],
  ['INVALID reference', one('rate_1', { reference: 'a\0b' })],
  ['INVALID language', one('rate_1', { language: 'x' })],
  ['INVALID discountCode', one('rate_1', { discountCode: 'x'.repeat(65) })],
  ['INVALID idempotencyKey', one('rate_1', { idempotencyKey: '' })],
  ['INVALID tickets.0.email', one('rate_1', {}, { email: 'x' })],
])('a sale at the box office is refused: %s', async (problem, input) => {
  const before = await countCheckoutRows(sale)
  const refused = await sellAtBoxOffice(sale, input)
  expect(refused.__typename).toBe('CheckoutRefused')
  expect(problemsOf(refused)).toEqual([problem])
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test('a blank reference and a blank discount code count as absent', async () => {
  const sold = await mustSell(sale, { reference: ' ', discountCode: '' })
  expect(sold.payment.methodReference).toBeNull()
  expect(sold.tickets[0]?.discountQuantitySubtract).toBe(0)
})

test('a sale at the box office reports every problem at once', async () => {
  const input = one('rate_asks', {}, { warranty: true, supplements: [{ supplementId: 'sup_1' }] })
  expect(problemsOf(await sellAtBoxOffice(sale, input)).map((problem) => problem.split(' ')[0])).toEqual([
    'SUPPLEMENT_NOT_IN_RATE',
    'ANSWER_REQUIRED',
    'WARRANTY_NOT_OFFERED',
  ])
})

test.each(['CHEQUE', null, undefined])('the method %s is refused by the schema', async (method) => {
  const { data, errors } = await callOwn(sale, 'sellAtBoxOffice', { ...one('rate_1'), method })
  expect(data ?? null).toBeNull()
  expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['BAD_REQUEST'])
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
  expect(problemsOf(await sellAtBoxOffice(sale, one('rate_running')))).toEqual([
    `SALE_ENDED ticketRateId ${ended?.endDate.toISOString()}`,
  ])
})

test('a channel, an integration of another organization and a stranger can not sell at the box office', async () => {
  const before = await countCheckoutRows(sale)
  const input = { ...one('rate_1'), method: 'CASH' }
  const codes = async (headers: Record<string, string>) =>
    (await callOwn(sale, 'sellAtBoxOffice', input, headers)).errors?.map(({ extensions }) => extensions?.code)
  expect(await codes(sale.channel)).toEqual(['FORBIDDEN'])
  expect(await codes({})).toEqual(['UNAUTHENTICATED'])
  const { v2 } = await integrationHeaders(sale.db, 'org_2')
  expect(problemsOf(await sellAtBoxOffice(sale, one('rate_1'), v2))).toEqual(['NOT_FOUND ticketRateId'])
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test('a sale under the same idempotency key is made once, and its repetition says so', async () => {
  const input = one('rate_plain', { idempotencyKey: 'till-1/0001', reference: '1' })
  const first = await sellAtBoxOffice(sale, input)
  const again = await sellAtBoxOffice(sale, input)
  expect(again).toEqual({ ...first, idempotentReplayed: true })
  expect((await countersOf(sale)).rate_plain).toEqual({ sold: 1, held: 0 })
  for (const other of [{ reference: '2' }, { method: 'CARD' }, { language: 'fr' }])
    expect(problemsOf(await sellAtBoxOffice(sale, { ...input, ...other }))).toEqual([
      'IDEMPOTENCY_KEY_REUSED idempotencyKey',
    ])
  // A key is its sender's own.
  const { v2 } = await integrationHeaders(sale.db)
  expect(await sellAtBoxOffice(sale, input, v2)).toMatchObject({ idempotentReplayed: false })
  const online = { ticket_rate_id: 'rate_plain', tickets: [anEntry('price_plain')] }
  expect((await checkOut(sale, online, { 'idempotency-key': 'till-1/0001' })).statusCode).toBe(200)
})

test('a refused sale keeps no idempotency key', async () => {
  const input = one('rate_plain', { idempotencyKey: 'till-1/0002', expectedTotal: 1 })
  expect((await sellAtBoxOffice(sale, input)).__typename).toBe('CheckoutRefused')
  expect(await sellAtBoxOffice(sale, { ...input, expectedTotal: 22 })).toMatchObject({
    idempotentReplayed: false,
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
