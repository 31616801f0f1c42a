import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { events } from '../../../src/domain/event/table.ts'
import type { RefundOutcome } from '../../../src/domain/payment/provider.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { transferTicket } from '../../support/attendees.ts'
import { countersOf } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateNamed, channelHeaders, inDays } from '../../support/factories.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { aPaidTicket, aRefundedTicket, buyTickets, holdTickets, ticketOf } from '../../support/tickets.ts'

// Refunds by warranty, requested by the channel for its buyer.

const aWarrantyRate = (number: number, hours: number, percentage = 10) =>
  aRateNamed(number, {
    warranty: { enabled: true, percentage, hours },
    availability: { sold: 0, available: 100 },
  })
const catalogue = aCatalogue({
  events: [
    anEvent({ _id: 'evt_1', ticket_rates: [aWarrantyRate(1, 48), aWarrantyRate(2, 0)] }),
    anEvent({ _id: 'evt_soon', start_date: inDays(1), ticket_rates: [aWarrantyRate(3, 48)] }),
  ],
})

// Replaced by tests that need another outcome.
let outcome: (id: string) => RefundOutcome = (id) => ({ kind: 'succeeded', reference: `re_${id}` })
const succeeds = outcome
const provider = stubProvider({ refund: async ({ id }) => outcome(id) })

const sale = sharedSale(catalogue, { provider })

const withWarranty = { entry: { warranty: true } }

test('warranty refund returns all but the warranty and cancels the ticket', async () => {
  const checkout = await buyTickets(sale, { count: 2, ...withWarranty })
  // 20, a fee of 2 and a warranty of 2, twice.
  expect(checkout.total_amount).toBe(48)
  const id = ticketOf(checkout)
  const { sold = 0 } = (await countersOf(sale)).rate_1 ?? {}
  const { refund } = await refunds.returnTicket(sale, id)
  expect(refund).toMatchObject({
    amount: 22,
    reason: 'WARRANTY',
    status: 'SUCCEEDED',
    ticket: { id, status: 'CANCELLED', settlement: { refunded: 22 } },
  })
  expect((await countersOf(sale)).rate_1?.sold).toBe(sold - 1)
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({
    status: 'partially_refunded',
    refundedAmount: 2200,
  })
  expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.cancelled'])
  expect((await refunds.ticketRow(sale, id))?.correctiveInvoiceReferences).toHaveLength(1)
  expect(await refunds.returnTicket(sale, id)).toEqual({ refund })
  expect(await refunds.refundRows(sale, checkout)).toHaveLength(1)
  expect((await countersOf(sale)).rate_1?.sold).toBe(sold - 1)
})

test('warranty refund of a rate of before, whose hours lead out of the calendar, is over', async () => {
  await sale.db.execute(sql`update ticket_rates set warranty_hours = 60000000 where id = 'rate_2'`)
  // Listings follow the revision of their event, which a trigger renews.
  const { id } = await aPaidTicket(sale, { rate: 2, ...withWarranty })
  await sale.db.execute(sql`update tickets set warranty_hours = 60000000 where id = ${id}`)
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, id))[0]).toMatch(/^WARRANTY_ENDED /)
  await sale.db.execute(sql`update ticket_rates set warranty_hours = 0 where id = 'rate_2'`)
})

test('warranty refund returns only the part not refunded before', async () => {
  const { id } = await aRefundedTicket(sale, withWarranty, { amount: 5 })
  expect((await refunds.returnTicket(sale, id)).refund?.amount).toBe(17)
  // The price of the warranty itself may still be refunded by the organization.
  expect((await refunds.refundTicket(sale, id)).refund?.amount).toBe(2)
  const { id: all } = await aRefundedTicket(sale, withWarranty, { amount: 23 })
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, all))).toEqual(['REFUND_TOO_HIGH 0'])
  expect((await refunds.ticketRow(sale, all))?.status).toBe('active')
})

test('a transfer ends the warranty, also where the ticket comes back', async () => {
  const { id, checkout } = await aPaidTicket(sale, { count: 2, ...withWarranty })
  const ana = { fullName: 'Ana Núñez', email: 'ana@example.com' }
  for (const holder of [{}, ana]) {
    await transferTicket(sale, id, holder)
    expect(refunds.refusalCodes(await refunds.returnTicket(sale, id))).toEqual(['TICKET_TRANSFERRED'])
  }
  expect(await refunds.ticketRow(sale, id)).toMatchObject({ status: 'active', refundedAmount: 0 })
  // The other ticket of the payment keeps its own, and the organization refunds as ever.
  const { refund } = await refunds.returnTicket(sale, ticketOf(checkout, 1))
  expect(refund).toMatchObject({ amount: 22, reason: 'WARRANTY' })
  expect((await refunds.refundTicket(sale, id)).refund?.amount).toBe(24)
})

test('warranty refund without a warranty is refused', async () => {
  const { id } = await aPaidTicket(sale)
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, id))).toEqual(['NO_WARRANTY'])
  expect((await refunds.ticketRow(sale, id))?.status).toBe('active')
})

test('warranty ends the given hours before the event, by the clock of the database', async () => {
  const { id } = await aPaidTicket(sale, withWarranty)
  const startIn = (milliseconds: number) =>
    sale.db
      .update(events)
      .set({
        startDate: sql`now() + interval '48 hours' + ${milliseconds} * interval '1 millisecond'`,
        endDate: sql`now() + interval '60 hours'`,
      })
      .where(eq(events.id, 'evt_1'))
      .returning()
  const [event] = await startIn(0)
  const validUntil = new Date((event?.startDate.getTime() ?? 0) - 48 * 3_600_000).toISOString()
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, id))).toEqual([`WARRANTY_ENDED ${validUntil}`])
  expect((await refunds.ticketRow(sale, id))?.status).toBe('active')
  expect(await sale.db.$count(tickets, eq(tickets.id, id))).toBe(1)
  // Far enough away for the tests below.
  await startIn(3_600_000)
  expect((await refunds.returnTicket(sale, id)).refund?.status).toBe('SUCCEEDED')
})

test('warranty already over at purchase refunds nothing; one of 0 hours lasts until the start', async () => {
  const { id: late } = await aPaidTicket(sale, { rate: 3, ...withWarranty })
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, late))[0]).toMatch(/^WARRANTY_ENDED /)
  const { id } = await aPaidTicket(sale, { rate: 2, ...withWarranty })
  expect((await refunds.returnTicket(sale, id)).refund?.amount).toBe(22)
})

test('warranty refund of a ticket entered, cancelled or unpaid is refused', async () => {
  const { id: entered } = await aPaidTicket(sale, withWarranty)
  await sale.db.update(tickets).set({ entered: 1, firstEntryAt: sql`now()` }).where(eq(tickets.id, entered))
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, entered))).toEqual(['ALREADY_ENTERED'])

  const cancelled = await buyTickets(sale, withWarranty)
  await refunds.cancelTicket(sale, ticketOf(cancelled))
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, ticketOf(cancelled)))).toEqual([
    'ILLEGAL_TRANSITION CANCELLED',
  ])
  expect(await refunds.refundRows(sale, cancelled)).toEqual([])

  const unpaid = await holdTickets(sale, { entry: { warranty: true } })
  expect(refunds.refusalCodes(await refunds.returnTicket(sale, ticketOf(unpaid)))).toEqual([
    'ILLEGAL_TRANSITION PENDING',
  ])
})

test('warranty refund that the provider refused can be requested again, even after the warranty', async () => {
  const { id, checkout } = await aPaidTicket(sale, withWarranty)
  outcome = () => ({ kind: 'failed', code: 'expired_card' })
  const { refund } = await refunds.returnTicket(sale, id)
  outcome = succeeds
  expect(refund).toMatchObject({
    status: 'FAILED',
    ticket: { status: 'CANCELLED', settlement: { refunded: 0 } },
  })
  await sale.db.update(tickets).set({ warrantyHours: 100_000 }).where(eq(tickets.id, id))
  const again = await refunds.returnTicket(sale, id)
  expect(again.refund).toMatchObject({ status: 'SUCCEEDED', amount: 22 })
  expect(again.refund?.id).not.toBe(refund?.id)
  expect((await refunds.refundRows(sale, checkout)).map(({ status }) => status)).toEqual([
    'failed',
    'succeeded',
  ])
  expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.cancelled'])
})

test('warranty refund is for the channel that sold the ticket only', async () => {
  const { id: ticketId } = await aPaidTicket(sale, withWarranty)
  const other = { ...sale, channel: await channelHeaders(sale.db, 'org_1') }
  expect(refunds.refusalCodes(await refunds.returnTicket(other, ticketId))).toEqual(['NOT_FOUND ticketId'])
  for (const [headers, code] of [
    [sale.integration.v2, 'FORBIDDEN'],
    [{}, 'UNAUTHENTICATED'],
  ] as const) {
    const { data, errors } = await refunds.callMutation(sale, 'returnTicket', { ticketId }, headers)
    expect([data, errors?.[0]?.extensions?.code]).toEqual([{ returnTicket: null }, code])
  }
})
