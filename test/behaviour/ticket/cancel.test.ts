import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { payments } from '../../../src/domain/payment/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { invalidatedAt } from '../../../src/engine/database/shared-invalidation.ts'
import { anEntry, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aRateNamed,
  aRateOf,
  channelHeaders,
  integrationHeaders,
} from '../../support/factories.ts'
import { movePayments } from '../../support/queued-payments.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket, buyTickets, ticketOf } from '../../support/tickets.ts'

// Cancelling an unpaid checkout and a paid ticket. No money moves.

const few = aRateNamed('few', { availability: { sold: 0, available: 2 } })
const catalogue = aCatalogue({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2' })],
  events: [anEvent({ ticket_rates: [aRateOf(100), few] })],
})

const sale = sharedSale(catalogue)

const makeUnpaid = (rate = 'rate_1', price = 'price_1', count = 1) =>
  mustCheckOut(sale, {
    ticket_rate_id: rate,
    tickets: Array.from({ length: count }, () => anEntry(price)),
  })
const setStatus = (id: string, status: 'processing' | 'failed') =>
  sale.db.update(payments).set({ status }).where(eq(payments.id, id))

test('cancelling an unpaid checkout frees its places at once, and again changes nothing', async () => {
  const { payment_id } = await makeUnpaid('rate_few', 'price_few', 2)
  expect((await countersOf(sale)).rate_few).toEqual({ sold: 0, held: 2 })
  const invalidated = invalidatedAt(sale.db)
  const { payment } = await refunds.cancelPayment(sale, payment_id)
  expect(payment).toEqual({
    id: payment_id,
    status: 'CANCELLED',
    tickets: [{ status: 'EXPIRED' }, { status: 'EXPIRED' }],
  })
  expect((await countersOf(sale)).rate_few).toEqual({ sold: 0, held: 0 })
  expect(invalidatedAt(sale.db)).toBeGreaterThan(invalidated)
  expect(await refunds.cancelPayment(sale, payment_id)).toEqual({ payment })
  expect((await countersOf(sale)).rate_few).toEqual({ sold: 0, held: 0 })
})

test('cancelling a checkout that is paid, processing or failed is refused', async () => {
  const paid = await buyTickets(sale)
  const deciding = await makeUnpaid()
  await setStatus(deciding.payment_id, 'processing')
  const failed = await makeUnpaid()
  await setStatus(failed.payment_id, 'failed')
  for (const [{ payment_id }, status] of [
    [paid, 'PAID'],
    [deciding, 'PROCESSING'],
    [failed, 'FAILED'],
  ] as const) {
    const answer = await refunds.cancelPayment(sale, payment_id)
    expect(refunds.refusalCodes(answer)).toEqual([`ILLEGAL_TRANSITION ${status}`])
  }
})

test('cancelling a checkout whose hold is over expires it instead', async () => {
  const checkout = await makeUnpaid()
  await movePayments(sale.db, eq(payments.id, checkout.payment_id), { expiresAt: sql`now()` })
  const answer = await refunds.cancelPayment(sale, checkout.payment_id)
  expect(refunds.refusalCodes(answer)).toEqual(['ILLEGAL_TRANSITION EXPIRED'])
  expect((await refunds.paymentRow(sale, checkout))?.status).toBe('expired')
})

test.each([
  ['the channel that sold it', () => sale.channel],
  ['an integration of its organization', () => sale.integration.v2],
  ['an integration by id and secret', () => sale.integration.v1],
])('%s cancels a ticket, which frees its place and moves no money', async (_who, headers) => {
  const { id, checkout } = await aPaidTicket(sale, { count: 2 })
  const { sold = 0, held } = (await countersOf(sale)).rate_1 ?? {}
  const { ticket } = await refunds.cancelTicket(sale, id, headers())
  // 22 paid, with a platform fee of 1.
  expect(ticket).toEqual({ id, status: 'CANCELLED', settlement: { net: 21 } })
  const after = await countersOf(sale)
  expect([after.rate_1, after.price_1]).toEqual([
    { sold: sold - 1, held },
    { sold: sold - 1, held },
  ])
  expect(await refunds.refundRows(sale, checkout)).toEqual([])
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({ status: 'paid', refundedAmount: 0 })
  expect((await refunds.ticketRow(sale, id))?.cancelledAt).toBeInstanceOf(Date)
  expect((await refunds.ticketRow(sale, ticketOf(checkout, 1)))?.status).toBe('active')
  expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.cancelled'])
})

test('cancelling a cancelled ticket changes nothing', async () => {
  const { id } = await aPaidTicket(sale)
  const first = await refunds.cancelTicket(sale, id)
  const counters = await countersOf(sale)
  expect(await refunds.cancelTicket(sale, id, sale.integration.v2)).toEqual(first)
  expect(await countersOf(sale)).toEqual(counters)
  expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.cancelled'])
})

test('cancelling a ticket of a sold-out rate records RATE_AVAILABLE and shows at once', async () => {
  const checkout = await buyTickets(sale, { rate: 'few', count: 2 })
  const invalidated = invalidatedAt(sale.db)
  const before = await refunds.changeTypesOf(sale, 'rate_few')
  const query = `mutation ($id: ID!) { cancelTickets(input: { of: { ticketId: $id } }) { ... on CancelTicketsPayload {
    tickets { ticketRate { available availability { sold available } } payment { tickets { status } } } } } }`
  const { data } = await sale.graphql(query, { id: ticketOf(checkout) }, sale.channel)
  expect(data).toEqual({
    cancelTickets: {
      tickets: [
        {
          ticketRate: { available: true, availability: { sold: 1, available: 1 } },
          payment: { tickets: [{ status: 'CANCELLED' }, { status: 'ACTIVATED' }] },
        },
      ],
    },
  })
  expect(invalidatedAt(sale.db)).toBeGreaterThan(invalidated)
  expect(await refunds.changeTypesOf(sale, 'rate_few')).toEqual([...before, 'rate.available'])
})

test('cancelling a ticket is visible later in the same request', async () => {
  const { id } = await aPaidTicket(sale)
  const ticket = '{ ... on CancelTicketsPayload { tickets { status payment { tickets { status } } } } }'
  const query = `mutation ($id: ID!) {
    none: returnTicket(input: { ticketId: $id }) { ... on Refused { errors { code } } }
    done: cancelTickets(input: { of: { ticketId: $id } }) ${ticket}
    again: cancelTickets(input: { of: { ticketId: $id } }) ${ticket} }`
  const { data } = await sale.graphql<Record<string, unknown>>(query, { id }, sale.channel)
  const cancelled = { tickets: [{ status: 'CANCELLED', payment: { tickets: [{ status: 'CANCELLED' }] } }] }
  expect(data).toMatchObject({ done: cancelled, again: cancelled })
})

test.each([
  ['is inside', { entered: 1, firstEntryAt: new Date() }],
  ['was inside', { entered: 0, firstEntryAt: new Date() }],
])('cancelling a ticket whose holder %s is refused', async (_how, entry) => {
  const { id } = await aPaidTicket(sale)
  await sale.db.update(tickets).set(entry).where(eq(tickets.id, id))
  const counters = await countersOf(sale)
  expect(refunds.refusalCodes(await refunds.cancelTicket(sale, id))).toEqual(['ALREADY_ENTERED'])
  expect((await refunds.ticketRow(sale, id))?.status).toBe('active')
  expect(await countersOf(sale)).toEqual(counters)
})

test('cancelling a payment cancels its tickets that are left, in the order of the checkout, and again changes nothing', async () => {
  const checkout = await buyTickets(sale, { count: 3 })
  const ids = checkout.tickets.map(({ _id }) => _id)
  await refunds.cancelTicket(sale, ids[1] ?? '')
  const { sold = 0 } = (await countersOf(sale)).rate_1 ?? {}
  const of = { paymentId: checkout.payment_id }
  const answer = await refunds.cancelTickets(sale, of)
  expect(answer.tickets?.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 'CANCELLED']))
  expect((await countersOf(sale)).rate_1?.sold).toBe(sold - 2)
  expect(await refunds.cancelTickets(sale, of, sale.integration.v2)).toEqual(answer)
  expect((await countersOf(sale)).rate_1?.sold).toBe(sold - 2)
  for (const id of ids)
    expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.cancelled'])
})

test('cancelling a payment cancels nothing if one of its tickets has been used', async () => {
  const checkout = await buyTickets(sale, { count: 2 })
  const [first, second] = [ticketOf(checkout), ticketOf(checkout, 1)]
  await sale.db.update(tickets).set({ entered: 1, firstEntryAt: new Date() }).where(eq(tickets.id, second))
  const counters = await countersOf(sale)
  const of = { paymentId: checkout.payment_id }
  expect(refunds.refusalCodes(await refunds.cancelTickets(sale, of))).toEqual(['ALREADY_ENTERED'])
  for (const id of [first, second]) expect((await refunds.ticketRow(sale, id))?.status).toBe('active')
  expect(await countersOf(sale)).toEqual(counters)
  const unpaid = { paymentId: (await makeUnpaid()).payment_id }
  expect(refunds.refusalCodes(await refunds.cancelTickets(sale, unpaid))).toEqual([
    'ILLEGAL_TRANSITION PENDING',
  ])
})

test('cancelling an unpaid or expired ticket is refused', async () => {
  const checkout = await makeUnpaid()
  const id = ticketOf(checkout)
  expect(refunds.refusalCodes(await refunds.cancelTicket(sale, id))).toEqual(['ILLEGAL_TRANSITION PENDING'])
  await refunds.cancelPayment(sale, checkout.payment_id)
  expect(refunds.refusalCodes(await refunds.cancelTicket(sale, id))).toEqual(['ILLEGAL_TRANSITION EXPIRED'])
})

test('cancelling a foreign payment or ticket is 404', async () => {
  const { id, paymentId } = await aPaidTicket(sale)
  const other = { ...sale, channel: await channelHeaders(sale.db, 'org_1') }
  const { v2: door } = await integrationHeaders(sale.db, 'org_2')
  for (const answer of [
    await refunds.cancelTicket(other, id),
    await refunds.cancelTicket(sale, id, door),
    await refunds.cancelTicket(sale, 'tkt_none'),
    await refunds.cancelTicket(sale, '\0'),
  ])
    expect(refunds.refusalCodes(answer)).toEqual(['NOT_FOUND of.ticketId'])
  for (const answer of [
    await refunds.cancelTickets(other, { paymentId }),
    await refunds.cancelTickets(sale, { paymentId }, door),
    await refunds.cancelTickets(sale, { paymentId: 'pay_none' }),
  ])
    expect(refunds.refusalCodes(answer)).toEqual(['NOT_FOUND of.paymentId'])
  for (const answer of [
    await refunds.cancelPayment(other, paymentId),
    await refunds.cancelPayment(sale, 'pay_none'),
  ])
    expect(refunds.refusalCodes(answer)).toEqual(['NOT_FOUND paymentId'])
  expect((await refunds.ticketRow(sale, id))?.status).toBe('active')
})

test('cancelling without credentials, or with the wrong kind, is an error without data', async () => {
  const checkout = await makeUnpaid()
  const { payment_id: paymentId } = checkout
  const codes = async (...given: Parameters<typeof refunds.callMutation>) => {
    const { data, errors } = await refunds.callMutation(...given)
    return [data, ...(errors ?? []).map(({ extensions }) => extensions?.code)]
  }
  const none = { cancelPayment: null }
  expect(await codes(sale, 'cancelPayment', { paymentId }, {})).toEqual([none, 'UNAUTHENTICATED'])
  expect(await codes(sale, 'cancelPayment', { paymentId }, sale.integration.v2)).toEqual([none, 'FORBIDDEN'])
  const ticketId = ticketOf(checkout)
  expect(await codes(sale, 'cancelTickets', { of: { ticketId } }, {})).toEqual([
    { cancelTickets: null },
    'UNAUTHENTICATED',
  ])
  expect((await refunds.paymentRow(sale, checkout))?.status).toBe('pending')
})
