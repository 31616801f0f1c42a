import { eq, type SQL, sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { invoices } from '../../../src/domain/invoice/table.ts'
import type { RefundOutcome } from '../../../src/domain/payment/provider.ts'
import { charges, payments } from '../../../src/domain/payment/table.ts'
import { type RefundAttempt, refunds as table } from '../../../src/domain/refund/table.ts'
import {
  processDueRefunds,
  requestProviderRefund,
} from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { settleRefunds } from '../../../src/domain/sale/refund/settle-refund.ts'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { inSeconds } from '../../../src/engine/database/clock.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateNamed, aRateOf } from '../../support/factories.ts'
import { movePayments } from '../../support/queued-payments.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import {
  aPaidTicket,
  aRefundedTicket,
  buyTickets,
  holdTickets,
  payFor,
  ticketOf,
} from '../../support/tickets.ts'

// Refunds as a provider settles them: at once, later, never or twice; and automatic refunds.

const few = aRateNamed('few', { availability: { sold: 0, available: 1 } })
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100), few] })] })

type RefundCall = { id: string; organizationId: string }
const succeeds = async ({ id }: RefundCall): Promise<RefundOutcome> => ({
  kind: 'succeeded',
  reference: `re_${id}`,
})
const decides = async ({ id }: RefundCall): Promise<RefundOutcome> => ({
  kind: 'pending',
  reference: `re_${id}`,
})
const unreachable = async (): Promise<RefundOutcome> => {
  throw Object.assign(new Error('connect to 10.0.0.1 for ana@example.com'), { code: 'ECONNREFUSED' })
}

// The provider's next outcome, and the refunds it was asked for.
let outcome: (call: RefundCall) => Promise<RefundOutcome>
let calls: RefundCall[]
const provider = stubProvider({
  refund: (refund) => {
    calls.push(refund)
    return outcome(refund)
  },
})

const sale = sharedSale(catalogue, { provider })
beforeEach(async () => {
  // Closes pending refunds of other tests, so that they are no work of this one.
  await sale.db.update(table).set({ status: 'failed' }).where(eq(table.status, 'pending'))
  outcome = succeeds
  calls = []
})

const setDue = (dueAt: SQL, checkout?: Checkout) =>
  sale.db
    .update(table)
    .set({ dueAt })
    .where(checkout && eq(table.paymentId, checkout.payment_id))
/** Makes refunds due, by the database's clock. */
const letBeDue = (checkout?: Checkout) => setDue(sql`now()`, checkout)
const work = () => processDueRefunds(sale.db, provider)
const settle = async (refund: RefundAttempt, outcome: RefundOutcome) => {
  const settled = await sale.db.transaction((tx) => settleRefunds(tx, [{ refund, outcome }]))
  return settled.get(refund.id)
}
const rowOf = async (checkout: Checkout) => {
  const [row] = await refunds.refundRows(sale, checkout)
  if (!row) throw new Error('there is a refund')
  return row
}
/** Returns the statuses of a payment's refunds, then its own status and its refunded amount. */
const statesOf = async (checkout: Checkout) => {
  const payment = await refunds.paymentRow(sale, checkout)
  const rows = await refunds.refundRows(sale, checkout)
  return [...rows.map(({ status }) => status), payment?.status, payment?.refundedAmount]
}
const correctiveOf = (checkout: Checkout) =>
  sale.db.$count(invoices, sql`${invoices.paymentId} = ${checkout.payment_id} and kind = 'corrective'`)

test('refund with the provider out of reach stays pending and is retried under the same id', async () => {
  const { id, checkout } = await aPaidTicket(sale)
  outcome = unreachable
  const { refund } = await refunds.refundTicket(sale, id)
  expect(refund).toMatchObject({
    status: 'PENDING',
    succeededAt: null,
    ticket: { settlement: { refunded: 0 } },
  })
  // A pending refund counts as refunded.
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, id, { amount: 1 }))).toEqual([
    'REFUND_TOO_HIGH amount 0',
  ])
  expect(await rowOf(checkout)).toMatchObject({ attempts: 1, lastError: 'ECONNREFUSED' })
  outcome = succeeds
  // The first backoff is short, and this machine may be slow.
  await setDue(inSeconds(60), checkout)
  await work()
  expect(calls).toHaveLength(1)
  await letBeDue()
  await work()
  expect(calls.map(({ id }) => id)).toEqual([refund?.id, refund?.id])
  expect(await statesOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
  expect(await rowOf(checkout)).toMatchObject({ attempts: 2, lastError: null, reference: `re_${refund?.id}` })
  await letBeDue()
  await work()
  expect(calls).toHaveLength(2)
})

test('refund backoff grows to an hour at most', async () => {
  outcome = unreachable
  const { checkout } = await aRefundedTicket(sale)
  const { createdAt, dueAt } = await rowOf(checkout)
  const pauses: number[] = []
  for (let attempt = 1; attempt <= 14; attempt++) {
    const [{ seconds } = { seconds: 0 }] = await sale.db
      .select({ seconds: sql<number>`extract(epoch from ${table.dueAt} - now())::float8` })
      .from(table)
      .where(eq(table.paymentId, checkout.payment_id))
    pauses.push(seconds)
    await letBeDue(checkout)
    await work()
  }
  const [first = 0, last = 0] = [pauses[0], pauses.at(-1)]
  // Little of the first backoff, which is short, may be left once this machine looks.
  expect(dueAt.getTime() - createdAt.getTime()).toBeGreaterThan(2000)
  expect(first).toBeLessThanOrEqual(5)
  expect(last).toBeGreaterThan(1700)
  expect(last).toBeLessThanOrEqual(3600)
})

test('refund that the provider refuses has failed, and may be made again', async () => {
  const { id, checkout } = await aPaidTicket(sale)
  outcome = async () => ({ kind: 'failed', code: 'charge_disputed' })
  expect((await refunds.refundTicket(sale, id)).refund?.status).toBe('FAILED')
  expect(await statesOf(checkout)).toEqual(['failed', 'paid', 0])
  expect(await rowOf(checkout)).toMatchObject({ lastError: 'charge_disputed', succeededAt: null })
  expect(await correctiveOf(checkout)).toBe(0)
  outcome = succeeds
  await letBeDue()
  await work()
  expect(calls).toHaveLength(1)
  expect((await refunds.refundTicket(sale, id)).refund).toMatchObject({ status: 'SUCCEEDED', amount: 22 })
  expect(await statesOf(checkout)).toEqual(['failed', 'succeeded', 'refunded', 2200])
})

test('refund decided later is settled once', async () => {
  const { id, checkout } = await aPaidTicket(sale)
  outcome = decides
  const { refund } = await refunds.refundTicket(sale, id)
  expect(refund?.status).toBe('PENDING')
  const row = await rowOf(checkout)
  const reported: RefundOutcome = { kind: 'succeeded', reference: `re_${row.id}` }
  for (let time = 0; time < 3; time++) expect((await settle(row, reported))?.status).toBe('succeeded')
  // Arrives too late: the refund is already settled.
  expect(await settle(row, { kind: 'failed', code: 'lost_card' })).toMatchObject({
    status: 'succeeded',
    lastError: 'lost_card',
  })
  expect(await statesOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
  expect(await correctiveOf(checkout)).toBe(1)
  expect((await refunds.ticketRow(sale, id))?.refunds).toHaveLength(1)
  expect(await refunds.changeTypesOf(sale, checkout.payment_id)).toEqual(['payment.paid', 'payment.refunded'])
})

test('refund not decided yet is polled until it is', async () => {
  const checkout = await buyTickets(sale)
  outcome = decides
  const { refund } = await refunds.refundTicket(sale, ticketOf(checkout))
  await letBeDue()
  await work()
  expect(calls.map(({ id }) => id)).toEqual([refund?.id, refund?.id])
  expect(await rowOf(checkout)).toMatchObject({ status: 'pending', reference: `re_${refund?.id}` })
  outcome = async () => ({ kind: 'failed', code: 'expired_or_canceled_card' })
  await letBeDue()
  await work()
  expect(await statesOf(checkout)).toEqual(['failed', 'paid', 0])
})

test('refund call that never answers times out and is retried', async () => {
  outcome = unreachable
  const { checkout } = await aRefundedTicket(sale)
  outcome = () => new Promise(() => {})
  const waited = await requestProviderRefund(sale.db, provider, await rowOf(checkout), 0.05)
  expect(waited).toMatchObject({ status: 'pending', lastError: 'TIMEOUT' })
  outcome = succeeds
  await letBeDue()
  await work()
  expect(await statesOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
})

test('refund webhook before the response to the call settles it, and the response changes nothing', async () => {
  const checkout = await buyTickets(sale)
  outcome = async (refund) => {
    await settle(await rowOf(checkout), { kind: 'succeeded', reference: `re_${refund.id}` })
    return succeeds(refund)
  }
  const { refund } = await refunds.refundTicket(sale, ticketOf(checkout))
  expect(refund?.status).toBe('SUCCEEDED')
  outcome = async (refund) => {
    await settle(await rowOf(other), { kind: 'succeeded', reference: `re_${refund.id}` })
    return unreachable()
  }
  const other = await buyTickets(sale)
  const answered = await refunds.refundTicket(sale, ticketOf(other))
  expect(answered.refund).toMatchObject({ status: 'SUCCEEDED', ticket: { settlement: { refunded: 22 } } })
  for (const paid of [checkout, other]) {
    expect(await statesOf(paid)).toEqual(['succeeded', 'refunded', 2200])
    expect(await correctiveOf(paid)).toBe(1)
    expect(await refunds.refundRows(sale, paid)).toMatchObject([{ lastError: null }])
  }
})

test('refund of a crashed process is made by another once its lease is over', async () => {
  outcome = unreachable
  const { checkout } = await aRefundedTicket(sale, {}, { idempotencyKey: 'died' })
  // The row as it is between its commit and the call.
  await sale.db
    .update(table)
    .set({ lastError: null, dueAt: sql`now() + interval '60 seconds'` })
    .where(eq(table.paymentId, checkout.payment_id))
  outcome = succeeds
  calls = []
  const again = () => refunds.refundTicket(sale, ticketOf(checkout), { idempotencyKey: 'died' })
  expect((await again()).refund?.status).toBe('PENDING')
  await work()
  expect(calls).toEqual([])
  await letBeDue()
  await work()
  expect(calls).toHaveLength(1)
  expect((await again()).refund?.status).toBe('SUCCEEDED')
  expect(await statesOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
})

test('refund that the database cannot settle stays pending and is settled later', async () => {
  const checkout = await buyTickets(sale)
  await sale.db.execute(sql`create function give_up() returns trigger language plpgsql as
    $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$`)
  await sale.db.execute(sql`create trigger give_up before insert on invoices execute function give_up()`)
  const { refund } = await refunds.refundTicket(sale, ticketOf(checkout))
  expect(refund).toMatchObject({ status: 'PENDING', ticket: { settlement: { refunded: 0 } } })
  await sale.db.execute(sql`drop function give_up cascade`)
  await letBeDue()
  await work()
  expect(calls.map(({ id }) => id)).toEqual([refund?.id, refund?.id])
  expect(await statesOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
})

test('refund of money from another provider waits', async () => {
  const checkout = await buyTickets(sale)
  await sale.db.update(charges).set({ provider: 'other' }).where(eq(charges.paymentId, checkout.payment_id))
  const { refund } = await refunds.refundTicket(sale, ticketOf(checkout))
  expect(refund?.status).toBe('PENDING')
  expect(calls).toEqual([])
  expect(await rowOf(checkout)).toMatchObject({ lastError: 'OTHER_PROVIDER' })
})

const expire = async ({ payment_id }: Checkout) => {
  await movePayments(sale.db, eq(payments.id, payment_id), { expiresAt: sql`now()` })
  await expireHolds(sale.db, 10)
}

test('late payment of a full rate is refunded, without an invoice, with a change for clients', async () => {
  const late = await holdTickets(sale, { rate: 'few' })
  await expire(late)
  const other = await buyTickets(sale, { rate: 'few' })
  await payFor(sale, late)
  expect(await statesOf(late)).toEqual(['pending', 'expired', 0])
  await work()
  expect(await statesOf(late)).toEqual(['succeeded', 'refunded', 2200])
  expect(await rowOf(late)).toMatchObject({ reason: 'LATE_NO_CAPACITY', ticketId: null, amount: 2200 })
  expect(await correctiveOf(late)).toBe(0)
  expect((await refunds.ticketRow(sale, ticketOf(late)))?.status).toBe('expired')
  expect(await refunds.changeTypesOf(sale, late.payment_id)).toEqual(['payment.expired', 'payment.refunded'])
  // Visible to the channel on its payment.
  const { data } = await sale.graphql(
    'query ($id: ID!) { payment(id: $id) { status refunded { amount } refunds { reason status amount { amount } ticket { id } } } }',
    { id: late.payment_id },
    sale.channel,
  )
  const [refund] = [
    { reason: 'LATE_NO_CAPACITY', status: 'SUCCEEDED', amount: { amount: '22.00' }, ticket: null },
  ]
  expect(data).toEqual({ payment: { status: 'REFUNDED', refunded: { amount: '22.00' }, refunds: [refund] } })
  await refunds.cancelTicket(sale, ticketOf(other))
})

test('refund of a late payment does not undo a later one that was accepted', async () => {
  const late = await holdTickets(sale, { rate: 'few' })
  await expire(late)
  const other = await buyTickets(sale, { rate: 'few' })
  await payFor(sale, late, 'late_1')
  await refunds.cancelTicket(sale, ticketOf(other))
  await payFor(sale, late, 'late_2')
  expect(await statesOf(late)).toEqual(['pending', 'paid', 0])
  await work()
  expect(await statesOf(late)).toEqual(['succeeded', 'paid', 0])
  expect(calls).toMatchObject([{ charge: 'late_1' }])
  // A refund of the ticket is taken from the accepted payment.
  await refunds.refundTicket(sale, ticketOf(late))
  expect(calls).toMatchObject([{ charge: 'late_1' }, { charge: 'late_2' }])
  expect(await statesOf(late)).toEqual(['succeeded', 'succeeded', 'refunded', 2200])
})

test('payment for a cancelled checkout is refunded', async () => {
  const checkout = await holdTickets(sale)
  await refunds.cancelPayment(sale, checkout.payment_id)
  await payFor(sale, checkout)
  await work()
  expect(await statesOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
  expect(await rowOf(checkout)).toMatchObject({ reason: 'PAID_AFTER_CANCELLATION' })
  expect(await correctiveOf(checkout)).toBe(0)
})

test('second payment is refunded and changes neither the payment nor its tickets', async () => {
  const checkout = await buyTickets(sale)
  const payment = await refunds.paymentRow(sale, checkout)
  const ticket = await refunds.ticketRow(sale, ticketOf(checkout))
  await payFor(sale, checkout, 'second')
  await work()
  expect(calls).toMatchObject([{ charge: 'second', amount: 2200 }])
  expect(await rowOf(checkout)).toMatchObject({ reason: 'PAID_TWICE', status: 'succeeded' })
  expect(await refunds.paymentRow(sale, checkout)).toEqual(payment)
  expect(await refunds.ticketRow(sale, ticketOf(checkout))).toEqual(ticket)
  expect(await correctiveOf(checkout)).toBe(0)
  expect(await refunds.changeTypesOf(sale, checkout.payment_id)).toEqual(['payment.paid'])
  // The ticket can still be refunded in full, from the payment that was accepted.
  await refunds.refundTicket(sale, ticketOf(checkout))
  expect(calls).toMatchObject([{ charge: 'second' }, { charge: `test_${checkout.payment_id}` }])
})
