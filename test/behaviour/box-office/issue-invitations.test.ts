// Runs in: postgres, slow-forms

import { eq, sql } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { events } from '../../../src/domain/event/table.ts'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { charges } from '../../../src/domain/payment/table.ts'
import {
  aGuest,
  callOwn,
  issueInvitations,
  mustSell,
  problemsOf,
  sellAtBoxOffice,
} from '../../support/box-office.ts'
import { eventsNotOnSale, ratesNotOnSale, withStranger } from '../../support/box-office-catalogue.ts'
import { anEntry, checkOut, countersOf } from '../../support/checkouts.ts'
import { readDeliveries, sendDeliveriesOnce } from '../../support/deliveries.ts'
import { anEvent, aPrice, aQuestion, aRate, aRateNamed, integrationHeaders } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { cancelTicket, changeTypesOf, refundTicket, refusalCodes } from '../../support/refunds.ts'
import { countCheckoutRows } from '../../support/refusals.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

// Tickets that an organization gives away.

const price = (_id: string, more = {}) => aPrice({ _id, ...more })
const places = (available: number) => ({ sold: 0, available })

const sale = sharedSale({
  organizations: withStranger({ language: 'ca' }),
  events: [
    anEvent({
      age: '18',
      ticket_rates: [
        aRateNamed('1', { admits: 2, questions: [aQuestion({ required: true })] }),
        aRateNamed('many', { min: 2, max: 3, availability: places(150) }),
        aRateNamed('mail'),
        aRate({
          _id: 'rate_steps',
          availability: places(5),
          prices: [
            price('price_past', { valid_until: '2020-01-01T00:00:00Z' }),
            price('price_first', { quantity: 2 }),
            price('price_then', { quantity: 2 }),
          ],
        }),
        aRateNamed('last', { availability: places(2) }),
        ...ratesNotOnSale('2099-01-01T00:00:00.000Z'),
        aRateNamed('none', { availability: places(0) }),
      ],
    }),
    ...eventsNotOnSale,
  ],
})

afterAll(async () => expect(await brokenInvariants(sale.db)).toEqual([]))

const guests = (count: number) =>
  Array.from({ length: count }, (_, index) => aGuest({ email: `guest${index}@example.com` }))
const to = (rate: string, count = 1, more: Record<string, unknown> = {}) => ({
  ticketRateId: rate,
  guests: guests(count),
  ...more,
})

test('an invitation costs nothing, takes a place and is active at once, without invoice or charge', async () => {
  const given = await issueInvitations(sale, {
    ticketRateId: 'rate_1',
    guests: [
      aGuest({ phone: '+34600000000', language: 'pt-BR' }),
      aGuest({ fullName: 'Bo', email: 'bo@example.com' }),
    ],
  })
  expect(given).toMatchObject({ __typename: 'IssueInvitationsPayload', replayed: false })
  expect(given.payment).toMatchObject({
    status: 'PAID',
    saleType: 'INVITATION',
    totalAmount: 0,
    boxOffice: null,
    invoiceReference: null,
    conditionsChanged: false,
    pageUrl: null,
  })
  const free = {
    amounts: { price: 0, discount: 0, supplements: 0, fees: 0, warranty: 0, total: 0 },
    settlement: { paid: 0, refunded: 0, commission: 0, net: 0 },
  }
  expect(given.tickets).toEqual([
    {
      ...free,
      id: expect.stringMatching(/^tkt_/),
      status: 'ACTIVATED',
      saleType: 'INVITATION',
      qrCode: expect.stringMatching(/^\w{17}$/),
      attendee: {
        fullName: 'Luz Marín',
        email: 'luz@example.com',
        phone: '+34600000000',
        language: 'pt',
      },
      price: { id: 'price_1', price: 0 },
      channel: null,
      admits: 2,
      documentUrl: expect.stringMatching(/\.pdf$/),
      activatedAt: given.payment.paidAt,
      invoiceReference: null,
      supplements: [],
    },
    expect.objectContaining({
      ...free,
      attendee: { fullName: 'Bo', email: 'bo@example.com', phone: null, language: 'ca' },
    }),
  ])
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 2, held: 0 })
  expect(await sale.db.$count(charges, eq(charges.paymentId, given.payment.id))).toBe(0)
  expect(await sale.db.$count(invoices, eq(invoices.paymentId, given.payment.id))).toBe(0)
  expect(await changeTypesOf(sale, given.payment.id)).toEqual(['payment.paid'])
  expect(await changeTypesOf(sale, given.tickets[1]?.id ?? '')).toEqual(['ticket.activated'])
  const lookup = await sale.rest('GET', `/integrations/tickets/${given.tickets[0]?.id}`, {
    headers: sale.integration.v2,
  })
  expect(lookup.json().data).toMatchObject({
    sale_type: 'invitation',
    status: 'activated',
    total_paid: 0,
    for: 2,
  })
})

test('nothing of an invitation can be refunded, and cancelling it frees its place', async () => {
  const { tickets } = await issueInvitations(sale, to('rate_last', 2))
  const id = tickets[0]?.id ?? ''
  expect(refusalCodes(await refundTicket(sale, id))).toEqual(['REFUND_TOO_HIGH of 0'])
  expect(problemsOf(await issueInvitations(sale, to('rate_last')))).toEqual(['SOLD_OUT guests 0'])
  expect((await cancelTicket(sale, id, sale.integration.v2)).ticket?.status).toBe('CANCELLED')
  expect((await issueInvitations(sale, to('rate_last'))).tickets).toHaveLength(1)
  expect(await changeTypesOf(sale, 'rate_last')).toEqual(['rate.sold_out', 'rate.available', 'rate.sold_out'])
  const online = await checkOut(sale, { ticket_rate_id: 'rate_last', tickets: [anEntry('price_last')] })
  expect(restProblems(online)).toEqual(['SOLD_OUT tickets'])
})

test('a hundred invitations are issued at once, whatever the limits per checkout', async () => {
  const { tickets, payment } = await issueInvitations(sale, to('rate_many', 100))
  expect(tickets.map(({ attendee }) => attendee.email)).toEqual(guests(100).map(({ email }) => email))
  expect(new Set(tickets.map(({ qrCode }) => qrCode)).size).toBe(100)
  const { data } = await sale.graphql<{ payment: { tickets: unknown[] } }>(
    'query ($id: ID!) { payment(id: $id) { tickets { id } } }',
    { id: payment.id },
    sale.integration.v2,
  )
  expect(data?.payment.tickets).toHaveLength(100)
  expect(problemsOf(await issueInvitations(sale, to('rate_many', 51)))).toEqual([
    'INSUFFICIENT_AVAILABILITY guests 50',
  ])
  expect((await countersOf(sale)).rate_many).toEqual({ sold: 100, held: 0 })
})

test('invitations take the places of the current price, and of the next one when it is used up', async () => {
  expect(problemsOf(await issueInvitations(sale, to('rate_steps', 5)))).toEqual([
    'INSUFFICIENT_AVAILABILITY guests 4',
  ])
  const { tickets } = await issueInvitations(sale, to('rate_steps', 3))
  expect(tickets.map(({ price }) => price.id)).toEqual(['price_first', 'price_first', 'price_then'])
  const counters = await countersOf(sale)
  expect([counters.rate_steps, counters.price_first, counters.price_then]).toEqual([
    { sold: 3, held: 0 },
    { sold: 2, held: 0 },
    { sold: 1, held: 0 },
  ])
})

test('invitations are sent to each guest if asked for, and not otherwise', async () => {
  await sale.db.delete(deliveries)
  const server = await startMailServer()
  const invited = [aGuest(), aGuest({ fullName: 'Bo', email: 'bo@example.com' }), aGuest({ fullName: 'Cy' })]
  const silent = await issueInvitations(sale, { ticketRateId: 'rate_mail', guests: invited })
  expect(await readDeliveries(sale)).toEqual({})
  const given = await issueInvitations(sale, {
    ticketRateId: 'rate_mail',
    guests: invited,
    sendTickets: true,
  })
  await sendDeliveriesOnce(sale, { SMTP_URL: server.url }).finally(() => server.close())
  expect(server.mails.map(({ to }) => to.join()).sort()).toEqual(['bo@example.com', 'luz@example.com'])
  expect(Object.values(await readDeliveries(sale)).map(({ status }) => status)).toEqual(['sent', 'sent'])
  expect([silent, given].map(({ tickets }) => tickets.length)).toEqual([3, 3])
})

test.each<[problem: string, input: Record<string, unknown>]>([
  ['NOT_FOUND ticketRateId', to('rate_absent')],
  ['NOT_FOUND ticketRateId', to('rate_strange')],
  ['RATE_CLOSED ticketRateId', to('rate_closed')],
  ['NOT_ON_SALE_YET ticketRateId 2099-01-01T00:00:00.000Z', to('rate_early')],
  ['SALE_ENDED ticketRateId 2020-01-01T00:00:00.000Z', to('rate_over')],
  ['SOLD_OUT guests 0', to('rate_none')],
  ['TOO_FEW_TICKETS guests 1 100', to('rate_1', 0)],
  ['TOO_MANY_TICKETS guests 1 100', to('rate_1', 101)],
  ['INVALID guests.0.email', { ...to('rate_1'), guests: [aGuest({ email: 'x' })] }],
  ['INVALID guests.1.fullName', { ...to('rate_1'), guests: [aGuest(), aGuest({ fullName: ' ' })] }],
  [
    'INVALID guests.0.fullName',
    { ...to('rate_1'), guests: [aGuest({ fullName: 'Bo\nPay at https://evil.example' })] },
  ],
  ['INVALID guests.0.phone', { ...to('rate_1'), guests: [aGuest({ phone: '600' })] }],
  ['INVALID guests.0.language', { ...to('rate_1'), guests: [aGuest({ language: '1' })] }],
  ['INVALID ticketRateId', { ...to('rate_1'), ticketRateId: '' }],
  ['INVALID idempotencyKey', to('rate_1', 1, { idempotencyKey: 'ñ' })],
])('invitations are refused: %s', async (problem, input) => {
  const before = await countCheckoutRows(sale)
  const refused = await issueInvitations(sale, input)
  expect(refused.__typename).toBe('Refused')
  expect(problemsOf(refused)).toEqual([problem])
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test.each([
  ['rate_none', 'SOLD_OUT', 0],
  ['rate_steps', 'INSUFFICIENT_AVAILABILITY', 2],
])('a refusal for want of places of %s leads to the rate', async (rate, code, available) => {
  const query = `mutation ($input: IssueInvitationsInput!) { issueInvitations(input: $input) { ... on Refused {
    errors { code ... on AvailabilityError { available ticketRate { id availability { available } } } } } } }`
  const input = { ticketRateId: rate, guests: guests(5), idempotencyKey: 'crowd' }
  const { data } = await sale.graphql(query, { input }, sale.integration.v2)
  const ticketRate = { id: rate, availability: { available } }
  expect(data).toEqual({ issueInvitations: { errors: [{ code, available, ticketRate }] } })
})

test('invitations are issued while the event runs, and no longer once it has ended', async () => {
  expect((await issueInvitations(sale, to('rate_running'))).tickets).toHaveLength(1)
  const [ended] = await sale.db
    .update(events)
    .set({ endDate: sql`now()` })
    .where(eq(events.id, 'evt_running'))
    .returning()
  expect(problemsOf(await issueInvitations(sale, to('rate_running')))).toEqual([
    `SALE_ENDED ticketRateId ${ended?.endDate.toISOString()}`,
  ])
})

test('a channel, an integration of another organization and a stranger can not issue invitations', async () => {
  const before = await countCheckoutRows(sale)
  const codes = async (headers: Record<string, string>) =>
    (await callOwn(sale, 'issueInvitations', to('rate_1'), headers)).errors?.map(
      ({ extensions }) => extensions?.code,
    )
  expect(await codes(sale.channel)).toEqual(['FORBIDDEN'])
  expect(await codes({})).toEqual(['UNAUTHENTICATED'])
  const { v2 } = await integrationHeaders(sale.db, 'org_2')
  expect(problemsOf(await issueInvitations(sale, to('rate_1'), v2))).toEqual(['NOT_FOUND ticketRateId'])
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test('invitations under the same idempotency key are issued once, and their repetition says so', async () => {
  const input = to('rate_many', 1, { idempotencyKey: 'press-list' })
  const before = (await countersOf(sale)).rate_many?.sold ?? 0
  const first = await issueInvitations(sale, input)
  expect(await issueInvitations(sale, input)).toEqual({ ...first, replayed: true })
  expect((await countersOf(sale)).rate_many?.sold).toBe(before + 1)
  const other = { ...input, sendTickets: true }
  expect(problemsOf(await issueInvitations(sale, other))).toEqual(['IDEMPOTENCY_KEY_REUSED idempotencyKey'])
  // Sales at the box office share the keys of the integration.
  const sold = await sellAtBoxOffice(sale, {
    ticketRateId: 'rate_many',
    tickets: [],
    idempotencyKey: 'press-list',
  })
  expect(problemsOf(sold)).toEqual(['IDEMPOTENCY_KEY_REUSED idempotencyKey'])
  await mustSell(sale, { idempotencyKey: 'till' }, 'rate_mail')
  const given = await issueInvitations(sale, to('rate_mail', 1, { idempotencyKey: 'till' }))
  expect(problemsOf(given)).toEqual(['IDEMPOTENCY_KEY_REUSED idempotencyKey'])
})
