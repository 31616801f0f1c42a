import { eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { mustSell } from '../../support/box-office.ts'
import { type Checkout, checkOut, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import { sendDeliveriesOnce } from '../../support/deliveries.ts'
import { openDoors, redeem, scanTicket } from '../../support/door.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  aRateNamed,
  aRateOf,
  aSupplement,
} from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { inTestMode } from '../../support/modes.ts'
import { openPageBuyer } from '../../support/payment-page-buyer.ts'
import { refundTicket } from '../../support/refunds.ts'
import { openSale, restProblems, type Sale } from '../../support/sale.ts'
import { openStripeSale } from '../../support/stripe-sale.ts'
import { holdTickets, ticketOf, toBody } from '../../support/tickets.ts'

// Test keys sell test tickets, which nothing live sees or counts.

let live: Sale
let testing: Sale

const catalogue = (available = 2) =>
  aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [aRateOf(available)] })] })

async function open(file = catalogue()) {
  live = await openSale(file, { settings: openDoors })
  testing = await inTestMode(live)
}

afterEach(async () => {
  expect(await brokenInvariants(live.db)).toEqual([])
  await live.close()
})

const pay = (sale: Sale, checkout: Checkout) => openPageBuyer(sale).pay(checkout)

async function sold(sale: Sale): Promise<Checkout> {
  const checkout = await holdTickets(sale)
  await pay(sale, checkout)
  return checkout
}

const rateQuery = '{ ticketRate(id: "rate_1") { available availability { sold available } prices { id } } }'
type Rate = { ticketRate: { available: boolean; availability: { sold: number; available: number } } }
const availabilityOf = async (sale: Sale, headers = sale.channel) =>
  (await sale.graphql<Rate>(rateQuery, {}, headers)).data?.ticketRate.availability

test('test sales take no live place, live sales no test place, and each sells out by itself', async () => {
  await open()
  await sold(testing)
  await sold(testing)
  expect(restProblems(await checkOut(testing, toBody()))).toEqual(['SOLD_OUT tickets'])
  expect(await availabilityOf(live)).toEqual({ sold: 0, available: 2 })
  expect(await availabilityOf(testing)).toEqual({ sold: 2, available: 0 })
  expect(await availabilityOf(live, live.integration.v2)).toEqual({ sold: 0, available: 2 })
  await sold(live)
  await sold(live)
  expect(restProblems(await checkOut(live, toBody()))).toEqual(['SOLD_OUT tickets'])
  expect(await countersOf(live)).toEqual({
    rate_1: { sold: 2, held: 0 },
    price_1: { sold: 2, held: 0 },
    'test/rate_1': { sold: 2, held: 0 },
    'test/price_1': { sold: 2, held: 0 },
  })
})

test('lists of events show the counters of the mode, from the cache as well', async () => {
  await open()
  await sold(testing)
  const query = '{ events { nodes { ticketRates { availability { sold } } } } }'
  type Page = { events: { nodes: { ticketRates: { availability: { sold: number } }[] }[] } }
  const overGraphql = async (sale: Sale) =>
    (await sale.graphql<Page>(query, {}, sale.channel)).data?.events.nodes[0]?.ticketRates[0]?.availability
      .sold
  const overRest = async (sale: Sale) =>
    (await sale.rest('GET', '/events?populate=*', { headers: sale.channel })).json().data[0].ticket_rates[0]
      .availability.sold
  for (const read of [overGraphql, overRest])
    for (const [sale, count] of [
      [live, 0],
      [testing, 1],
      [live, 0],
      [testing, 1],
    ] as const)
      expect(await read(sale)).toBe(count)
})

test('price steps and discounts are used up in each mode by itself', async () => {
  const step = (_id: string, quantity: number) => aPrice({ _id, quantity })
  await open(
    aCatalogue({
      organizations: [
        anOrganization({
          discounts: [{ _id: 'dsc_1', code: 'ONCE', name: 'Once', percentage: 10, quantity: 1 }],
        }),
      ],
      events: [
        anEvent({
          ticket_rates: [aRate({ _id: 'rate_1', prices: [step('price_1', 1), step('price_2', 5)] })],
        }),
      ],
    }),
  )
  const first = await holdTickets(testing, { discount_code: 'once' })
  expect(first.tickets[0]?.price._id).toBe('price_1')
  const second = await holdTickets(testing)
  expect([second.conditions_changed, second.tickets[0]?.price._id]).toEqual([true, 'price_2'])
  expect(restProblems(await checkOut(testing, toBody({ discount_code: 'once' })))).toEqual([
    'DISCOUNT_USED_UP discount_code',
  ])
  const real = await holdTickets(live, { discount_code: 'once' })
  expect([real.conditions_changed, real.tickets[0]?.price._id]).toEqual([false, 'price_1'])
})

test('a key of either mode answers what the other sold as if it were not there', async () => {
  await open()
  const mine = { live: await sold(live), test: await sold(testing) }
  for (const [seer, other] of [
    [live, mine.test],
    [testing, mine.live],
  ] as const) {
    const {
      payment_id,
      tickets: [ticket],
    } = other
    const absent = `tkt_${'0'.repeat(26)}`
    const lookUp = (id: string) =>
      seer.rest('GET', `/integrations/tickets/${id}`, { headers: seer.integration.v2 })
    const [answer, nothing] = [await lookUp(ticket?._id ?? ''), await lookUp(absent)]
    expect([answer.statusCode, restProblems(answer)]).toEqual([404, restProblems(nothing)])
    for (const headers of [seer.channel, seer.integration.v2]) {
      const { data } = await seer.graphql(
        `{ ticket(id: "${ticket?._id}") { id } payment(id: "${payment_id}") { id }
          a: node(id: "${ticket?._id}") { id } b: node(id: "${payment_id}") { id } }`,
        {},
        headers,
      )
      expect(data).toEqual({ ticket: null, payment: null, a: null, b: null })
    }
  }
  const refund = `mutation ($id: ID!) { refundTickets(input: { of: { ticketId: $id }, idempotencyKey: "one" }) { ... on Refused { errors { code } } } }`
  const { data } = await live.graphql(refund, { id: mine.test.tickets[0]?._id }, live.integration.v2)
  expect(data).toEqual({ refundTickets: { errors: [{ code: 'NOT_FOUND' }] } })
})

test('a live door knows no test ticket, and a test door none but test tickets', async () => {
  await open(aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [aRateOf(5)] })] }))
  const [real, tested] = [await sold(live), await sold(testing)]
  const codeOf = ({ tickets: [ticket] }: Checkout) => ticket?.qr_code ?? ''
  const scan = async (sale: Sale, checkout: Checkout, idempotencyKey: string) =>
    (await scanTicket(sale, { qrCode: codeOf(checkout), idempotencyKey })).outcome
  expect(await scan(live, tested, 'one')).toBe('NOT_FOUND')
  expect(await scan(testing, real, 'one')).toBe('NOT_FOUND')
  expect(await scan(testing, tested, 'two')).toBe('OK')
  // The same key and scan in the other mode replays nothing.
  expect(await scan(live, tested, 'two')).toBe('NOT_FOUND')
  expect(await scan(live, real, 'three')).toBe('OK')
  const byId = await scanTicket(live, { ticketId: tested.tickets[0]?._id })
  expect([byId.outcome, byId.ticket]).toEqual(['NOT_FOUND', null])
  const atBar = { qrCode: codeOf(tested), supplementId: 'sup_1', idempotencyKey: 'two', count: 1 }
  expect((await redeem(live, atBar)).outcome).toBe('NOT_FOUND')
})

test('a code may be used in each mode, and a test ticket takes none from a live one', async () => {
  await open()
  const withCode = toBody({ entry: { qr_code: 'SAME' } })
  await mustCheckOut(testing, withCode)
  expect(restProblems(await checkOut(testing, withCode))).toEqual(['QR_CODE_TAKEN tickets.0.qr_code'])
  await mustCheckOut(live, withCode)
})

test('the last live place is sold with a code that a test ticket has', async () => {
  await open(catalogue(1))
  const withCode = toBody({ entry: { qr_code: 'SAME' } })
  await mustCheckOut(testing, withCode)
  await mustCheckOut(live, withCode)
})

test('keys of a refund and of a bar are of one mode, too', async () => {
  const supplements = [aSupplement({ _id: 'sup_1', price: 0 })]
  const rate = aRateNamed('1', { supplements })
  await open(aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [rate] })] }))
  const withDrink = toBody({ entry: { supplements: [{ supplement_id: 'sup_1' }] } })
  for (const sale of [testing, live]) {
    const checkout = await mustCheckOut(sale, withDrink)
    await pay(sale, checkout)
    const ticketId = ticketOf(checkout)
    const drink = { ticketId, supplementId: 'sup_1', count: 1, idempotencyKey: 'same' }
    expect(await redeem(sale, drink)).toMatchObject({ outcome: 'OK', replayed: false })
    const { refund, errors } = await refundTicket(sale, ticketId, { amount: 1, idempotencyKey: 'same' })
    expect([errors, refund?.ticket?.id]).toEqual([undefined, ticketId])
  }
})

test('an idempotency key of one mode replays nothing in the other', async () => {
  await open()
  const key = { 'idempotency-key': 'the-same' }
  const first = await holdTickets(testing, { headers: key })
  const second = await holdTickets(live, { headers: key })
  expect(second.payment_id).not.toBe(first.payment_id)
  expect((await holdTickets(testing, { headers: key })).payment_id).toBe(first.payment_id)
})

test('test sales are in no live sum, feed or webhook, and have invoices of their own', async () => {
  await open()
  const feedOf = async (sale: Sale, headers: Record<string, string>) => {
    const query = `{ changes(from: { at: OLDEST }) {
      nodes { type mode subject { ... on Node { id } } } pageInfo { endCursor } } }`
    type Feed = {
      changes: {
        nodes: { type: string; subject: { id: string } }[]
        pageInfo: { endCursor: string }
      }
    }
    const { data } = await sale.graphql<Feed>(query, {}, headers)
    return data?.changes
  }
  await sold(testing)
  await sold(testing)
  for (const headers of [live.channel, live.integration.v2])
    expect((await feedOf(live, headers))?.nodes).toEqual([])
  const mine = await feedOf(testing, testing.channel)
  expect(mine?.nodes.map(({ type }) => type).sort()).toEqual([
    'PAYMENT_PAID',
    'PAYMENT_PAID',
    'RATE_SOLD_OUT',
    'TICKET_ACTIVATED',
    'TICKET_ACTIVATED',
  ])
  expect(mine?.nodes).toContainEqual(
    expect.objectContaining({
      type: 'RATE_SOLD_OUT',
      mode: 'TEST',
      subject: { id: 'rate_1' },
    }),
  )
  const wrong = await live.graphql(
    'query ($after: String!) { changes(from: { after: $after }) { nodes { id } } }',
    { after: mine?.pageInfo.endCursor },
    live.channel,
  )
  expect(wrong.errors?.[0]?.extensions?.code).toBe('CURSOR_UNKNOWN')
  const report =
    '{ event(by: { id: "evt_1" }) { sales(groupBy: RATE) { nodes { ticketRate { id } ticketCount } } } }'
  const sums = async (sale: Sale) =>
    (await sale.graphql<{ event: { sales: object } }>(report, {}, sale.integration.v2)).data?.event.sales
  expect([await sums(live), await sums(testing)]).toEqual([
    { nodes: [] },
    { nodes: [{ ticketRate: { id: 'rate_1' }, ticketCount: 2 }] },
  ])
  await sold(live)
  const references = await live.db
    .select({ reference: invoices.reference })
    .from(invoices)
    .orderBy(invoices.reference)
  expect(references.map(({ reference }) => reference.replace(/\d{4}-/, ''))).toEqual([
    'F000001',
    'TEST-F000001',
    'TEST-F000002',
  ])
})

test('a webhook hears of its own mode, and is seen in it alone', async () => {
  await open()
  const register =
    'mutation ($url: String!) { registerWebhook(input: { url: $url, idempotencyKey: $url }) { ... on RegisterWebhookPayload { webhook { id mode } } } }'
  const url = { url: 'https://hooks.example/' }
  const made = [
    await live.graphql(register, url, live.channel),
    await testing.graphql(register, url, testing.channel),
  ]
  const idsOf = async (sale: Sale) =>
    (
      await sale.graphql<{ webhooks: { id: string; mode: string }[] }>(
        '{ webhooks { id mode } }',
        {},
        sale.channel,
      )
    ).data?.webhooks
  expect(made.every(({ errors }) => errors === undefined)).toBe(true)
  expect((await idsOf(live))?.map(({ mode }) => mode)).toEqual(['LIVE'])
  expect((await idsOf(testing))?.map(({ mode }) => mode)).toEqual(['TEST'])
  await sold(testing)
  const deliveries = await live.db.execute<{ mode: string }>(
    'select webhooks.mode from webhook_deliveries join webhooks on webhooks.id = webhook_id',
  )
  const rows = Array.isArray(deliveries) ? deliveries : (deliveries as { rows: { mode: string }[] }).rows
  expect([...new Set(rows.map(({ mode }) => mode))]).toEqual(['test'])
})

test('every view of a test ticket says so, and none of a live one', async () => {
  await open(catalogue(10))
  const server = await startMailServer()
  for (const [sale, mark, mode] of [
    [live, undefined, 'LIVE'],
    [testing, true, 'TEST'],
  ] as const) {
    const page = openPageBuyer(sale)
    const checkout = await holdTickets(sale, { send_resourcers: true })
    const [ticket] = checkout.tickets
    expect([(checkout as { test?: boolean }).test, ticket?.test]).toEqual([mark, mark])
    expect((await page.view(checkout)).body.includes('TEST: admits nobody')).toBe(mark === true)
    await page.pay(checkout)
    expect((await page.view(checkout)).body.includes('TEST: admits nobody')).toBe(mark === true)
    const looked = await sale.rest('GET', `/integrations/tickets/${ticket?._id}`, {
      headers: sale.integration.v2,
    })
    expect(looked.json().data?.test ?? looked.json().test).toBe(mark)
    const { data } = await sale.graphql(
      `{ ticket(id: "${ticket?._id}") { mode payment { mode } } }`,
      {},
      sale.channel,
    )
    expect(data).toEqual({ ticket: { mode, payment: { mode } } })
  }
  await sendDeliveriesOnce(live, { SMTP_URL: server.url })
  const subjects = server.mails.map(({ mail }) => mail.subject?.startsWith('[TEST] '))
  expect(subjects.sort()).toEqual([false, true])
  await server.close()
})

test('a test payment never reaches the provider of live ones, and is given back in the sandbox', async () => {
  const sale = await openStripeSale()
  live = sale
  testing = await inTestMode(live)
  const checkout = await sold(testing)
  const [payment] = await sale.db.select().from(payments).where(eq(payments.id, checkout.payment_id))
  expect([payment?.status, payment?.provider, payment?.sessionId]).toEqual(['paid', 'sandbox', null])
  const refund = `mutation ($id: ID!) { refundTickets(input: { of: { ticketId: $id }, idempotencyKey: "one" }) { ... on RefundTicketsPayload { refunds { status } } } }`
  const { data } = await testing.graphql(refund, { id: checkout.tickets[0]?._id }, testing.integration.v2)
  expect(JSON.stringify(data).toUpperCase()).toContain('SUCCEEDED')
})

test('the box office of a test integration sells test tickets', async () => {
  await open()
  const { tickets: made } = await mustSell(testing, {
    ticketRateId: 'rate_1',
    tickets: [{ priceId: 'price_1', fullName: 'Ana', email: 'ana@example.com' }],
    method: 'CASH',
  })
  const [row] = await live.db
    .select()
    .from(tickets)
    .where(eq(tickets.id, made[0]?.id ?? ''))
  expect(row?.mode).toBe('test')
  expect(await availabilityOf(live)).toEqual({ sold: 0, available: 2 })
})

test('an import gives test mode the same capacity, and tests never stand in its way', async () => {
  const file = catalogue(3)
  await open(file)
  for (let count = 0; count < 3; count++) await sold(testing)
  const [event] = file.events ?? []
  const rate = { ...aRateOf(1), availability: { capacity: 1 } }
  await importCatalogue(live.db, { ...file, events: [{ ...event, ticket_rates: [rate] }] })
  expect(await availabilityOf(live)).toEqual({ sold: 0, available: 1 })
  expect(await availabilityOf(testing)).toEqual({ sold: 3, available: 0 })
})
