// Runs in: postgres, slow-forms

import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { idempotencyKeys, payments } from '../../../src/domain/payment/table.ts'
import { expireHolds, sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { repeat } from '../../../src/engine/base/timers.ts'
import { anEntry, type Checkout, checkOut, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateNamed, aRateOf } from '../../support/factories.ts'
import { waitForBlockedStatement } from '../../support/lock-waits.ts'
import { inTestMode } from '../../support/modes.ts'
import { movePayments } from '../../support/queued-payments.ts'
import { changeTypesOf, ticketRow } from '../../support/refunds.ts'
import { openSale, restProblems, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { endedOutcome, paidOutcome } from '../../support/stub-provider.ts'
import { buyTickets, holdTickets, toBody } from '../../support/tickets.ts'

const catalogue = aCatalogue({
  events: [
    anEvent({
      ticket_rates: [aRateOf(2), aRateNamed('2', { availability: { sold: 0, available: 200 } })],
    }),
    anEvent({ ticket_rates: [aRateNamed('elsewhere')] }),
  ],
})

const open: Sale[] = []
let sale: Sale
beforeEach(async () => {
  sale = await openSale(catalogue)
  open.push(sale)
})
afterAll(() => Promise.all(open.map((sale) => sale.close())))

/** Moves the expiry of a payment into the past, by the database's clock. */
const lapse = (id: string) =>
  movePayments(sale.db, eq(payments.id, id), { expiresAt: sql`now() - interval '1 millisecond'` })

const statusOf = async (id: string) => {
  const [payment] = await sale.db
    .select({ status: payments.status })
    .from(payments)
    .where(eq(payments.id, id))
  const rows = await sale.db.select({ status: tickets.status }).from(tickets).where(eq(tickets.paymentId, id))
  return [payment?.status, ...new Set(rows.map(({ status }) => status))]
}

test('a hold lasts for the configured time', async () => {
  const { payment_id } = await holdTickets(sale)
  const [held] = await sale.db
    .select({
      minutes: sql<number>`extract(epoch from ${payments.expiresAt} - ${payments.createdAt})::float8 / 60`,
    })
    .from(payments)
    .where(eq(payments.id, payment_id))
  expect(held?.minutes).toBeCloseTo(15, 2)
})

test('expiry of holds frees overdue places and leaves other payments alone', async () => {
  const overdue = await holdTickets(sale)
  const inTime = await holdTickets(sale)
  const bought = await buyTickets(sale, { rate: '2' })
  await lapse(overdue.payment_id)
  await lapse(bought.payment_id)
  expect(await expireHolds(sale.db, 10)).toBe(1)
  expect(await expireHolds(sale.db, 10)).toBe(0)
  expect(await statusOf(overdue.payment_id)).toEqual(['expired', 'expired'])
  expect(await statusOf(inTime.payment_id)).toEqual(['pending', 'held'])
  expect(await statusOf(bought.payment_id)).toEqual(['paid', 'active'])
  const { rate_1, price_1, rate_2 } = await countersOf(sale)
  expect([rate_1, price_1, rate_2]).toEqual([
    { sold: 0, held: 1 },
    { sold: 0, held: 1 },
    { sold: 1, held: 0 },
  ])
})

test('an expired hold shows in GraphQL and in the lookup', async () => {
  const { payment_id, tickets } = await holdTickets(sale)
  await lapse(payment_id)
  await expireHolds(sale.db, 10)
  const id = tickets[0]?._id
  const query =
    'query ($id: ID!) { ticket(id: $id) { status settlement { paid { amount } net { amount } commission { amount } } payment { status } } }'
  expect((await sale.graphql(query, { id }, sale.channel)).data).toEqual({
    ticket: {
      status: 'EXPIRED',
      settlement: { paid: { amount: '0.00' }, net: { amount: '0.00' }, commission: { amount: '0.00' } },
      payment: { status: 'EXPIRED' },
    },
  })
  const lookup = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
  expect(lookup.json().data).toMatchObject({ status: 'expired', activation_date: null, total_paid: 0 })
})

test('a checkout of a full rate expires overdue holds at once', async () => {
  const full = await holdTickets(sale, { count: 2 })
  expect(restProblems(await checkOut(sale, toBody()))).toEqual(['SOLD_OUT tickets'])
  await lapse(full.payment_id)
  await holdTickets(sale, { count: 2 })
  expect(await statusOf(full.payment_id)).toEqual(['expired', 'expired'])
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: 2 })
})

test('a checkout that waits for an overdue payment leaves it, if a bank takes it over meanwhile', async () => {
  const { payment_id } = await holdTickets(sale, { count: 2 })
  await lapse(payment_id)
  let waiting: ReturnType<typeof checkOut> | undefined
  await sale.db.transaction(async (tx) => {
    const ofPayment = eq(payments.id, payment_id)
    await movePayments(tx, ofPayment, { status: 'processing', expiresAt: sql`now() + interval '7 days'` })
    waiting = checkOut(sale, toBody())
    await waitForBlockedStatement(sale.db)
  })
  const refused = await waiting
  expect(refused && restProblems(refused)).toEqual(['SOLD_OUT tickets'])
  expect(await statusOf(payment_id)).toEqual(['processing', 'held'])
})

test('an expired checkout frees its QR codes', async () => {
  const { payment_id } = await holdTickets(sale, { entry: { qr_code: 'MINE-1' } })
  expect(restProblems(await checkOut(sale, toBody({ entry: { qr_code: 'MINE-1' } })))).toEqual([
    'QR_CODE_TAKEN tickets.0.qr_code',
  ])
  await lapse(payment_id)
  await expireHolds(sale.db, 10)
  const again = await holdTickets(sale, { entry: { qr_code: 'MINE-1' } })
  expect(again.tickets).toMatchObject([{ qr_code: 'MINE-1' }])
})

/** Checks out a ticket with a code, and lets the hold run out. */
async function lateCheckout(code: string) {
  const late = await holdTickets(sale, { entry: { qr_code: code } })
  await lapse(late.payment_id)
  await expireHolds(sale.db, 10)
  return late
}
const codeAfterLateMoney = async ({ payment_id, tickets }: Checkout) => {
  expect(await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))).toBe('paid')
  return (await ticketRow(sale, tickets[0]?._id ?? ''))?.qrCode
}

test('a ticket whose money came late keeps its code, whoever has it in another mode or event', async () => {
  const late = await lateCheckout('MINE-1')
  await holdTickets(await inTestMode(sale), { entry: { qr_code: 'MINE-1' } })
  const elsewhere = anEntry('price_elsewhere', { qr_code: 'MINE-1' })
  await mustCheckOut(sale, { ticket_rate_id: 'rate_elsewhere', tickets: [elsewhere] })
  expect(await codeAfterLateMoney(late)).toBe('MINE-1')
  // Control: a code that another ticket of the event has taken meanwhile is replaced.
  const replaced = await lateCheckout('MINE-2')
  await holdTickets(sale, { rate: '2', entry: { qr_code: 'MINE-2' } })
  expect(await codeAfterLateMoney(replaced)).not.toBe('MINE-2')
})

test('money that comes late and takes the last place tells that the rate is sold out', async () => {
  const late = await holdTickets(sale, { count: 2 })
  await lapse(late.payment_id)
  await expireHolds(sale.db, 10)
  expect(await changeTypesOf(sale, 'rate_1')).toEqual(['rate.sold_out', 'rate.available'])
  const money = paidOutcome(late.payment_id, { amount: 2 * 2200 })
  expect(await settlePaymentById(sale.db, late.payment_id, money)).toBe('paid')
  expect(await changeTypesOf(sale, 'rate_1')).toEqual(['rate.sold_out', 'rate.available', 'rate.sold_out'])
})

test('one sweep expires more holds than a batch has', async () => {
  const one = { ticket_rate_id: 'rate_2', tickets: [anEntry('price_2')] }
  await Promise.all(Array.from({ length: 101 }, () => mustCheckOut(sale, one)))
  await movePayments(sale.db, sql`true`, { expiresAt: sql`now() - interval '1 millisecond'` })
  await sweepHolds(sale.db)
  expect((await countersOf(sale)).rate_2).toEqual({ sold: 0, held: 0 })
})

test('a checkout with one taken QR code is refused whole, naming the ticket', async () => {
  await holdTickets(sale, { entry: { qr_code: 'MINE-1' } })
  const tickets = [anEntry('price_1', { qr_code: 'FREE-1' }), anEntry('price_1', { qr_code: 'MINE-1' })]
  const before = await countersOf(sale)
  await sale.db.execute(sql`update stock set capacity = 10 where id = 'rate_1'`)
  expect(restProblems(await checkOut(sale, { ticket_rate_id: 'rate_1', tickets }))).toEqual([
    'QR_CODE_TAKEN tickets.1.qr_code',
  ])
  expect(await countersOf(sale)).toEqual(before)
})

test('a payment of an overdue hold not yet expired is paid', async () => {
  const { payment_id } = await holdTickets(sale)
  await lapse(payment_id)
  expect(await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))).toBe('paid')
  expect(await statusOf(payment_id)).toEqual(['paid', 'active'])
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 1, held: 0 })
})

test('a settled payment keeps its status', async () => {
  const { payment_id } = await holdTickets(sale)
  expect(await settlePaymentById(sale.db, payment_id, endedOutcome('cancelled'))).toBe('cancelled')
  expect(await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))).toBe('cancelled')
  expect(await statusOf(payment_id)).toEqual(['cancelled', 'expired'])
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: 0 })
})

test('the job expires holds and deletes idempotency keys older than a day', async () => {
  const { payment_id } = await holdTickets(sale, { headers: { 'idempotency-key': 'old' } })
  await lapse(payment_id)
  await sale.db.update(idempotencyKeys).set({ createdAt: sql`now() - interval '25 hours'` })
  const errors: unknown[] = []
  const stop = repeat(
    () => sweepHolds(sale.db),
    { pauseMs: 10 },
    (error) => errors.push(error),
  )
  await expect.poll(() => statusOf(payment_id)).toEqual(['expired', 'expired'])
  await expect.poll(() => sale.db.$count(idempotencyKeys)).toBe(0)
  await stop()
  expect(errors).toEqual([])
})
