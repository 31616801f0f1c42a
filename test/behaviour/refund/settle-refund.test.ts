import { eq, type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inSeconds } from '../../../src/data/leased-jobs.ts'
import { invoices } from '../../../src/domain/invoice/table.ts'
import type { RefundOutcome } from '../../../src/domain/payment/provider.ts'
import { charges, payments } from '../../../src/domain/payment/table.ts'
import { refunds as table } from '../../../src/domain/refund/table.ts'
import { giveBack } from '../../../src/domain/sale/refund/give-back.ts'
import { giveBackDue } from '../../../src/domain/sale/refund/give-back-due.ts'
import { type RefundName, settleRefund } from '../../../src/domain/sale/refund/settle-refund.ts'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { anEntry, type Checkout, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aPrice, aRate, aRateOf } from '../../support/factories.ts'
import * as refunds from '../../support/refunds.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { stubProvider } from '../../support/stub-provider.ts'

// What a provider makes of refunds: at once, later, never, twice; and money that goes back by itself.

const few = aRate({
  _id: 'rate_few',
  prices: [aPrice({ _id: 'price_few' })],
  availability: { sold: 0, available: 1 },
})
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100), few] })] })

type Asked = { id: string }
const succeeds = async ({ id }: Asked): Promise<RefundOutcome> => ({
  kind: 'succeeded',
  reference: `re_${id}`,
})
const decides = async ({ id }: Asked): Promise<RefundOutcome> => ({ kind: 'pending', reference: `re_${id}` })
const unreachable = async (): Promise<RefundOutcome> => {
  throw Object.assign(new Error('connect to 10.0.0.1 for ana@example.com'), { code: 'ECONNREFUSED' })
}

// What the provider says next, and what it was asked.
let outcome: (asked: Asked) => Promise<RefundOutcome>
let asked: Asked[]
const provider = stubProvider({
  refund: (refund) => {
    asked.push(refund)
    return outcome(refund)
  },
})

let sale: Sale
beforeAll(async () => {
  sale = await openSale(catalogue, { provider })
})
afterAll(() => sale.close())
beforeEach(async () => {
  // What the test before left is no work of this one.
  await sale.db.update(table).set({ status: 'failed' }).where(eq(table.status, 'pending'))
  outcome = succeeds
  asked = []
})

const setDue = (dueAt: SQL, checkout?: Checkout) =>
  sale.db
    .update(table)
    .set({ dueAt })
    .where(checkout && eq(table.paymentId, checkout.payment_id))
/** As if the time of the next attempt had come, by the clock that decides. */
const letBeDue = (checkout?: Checkout) => setDue(sql`now()`, checkout)
const work = () => giveBackDue(sale.db, provider)
const tell = (name: RefundName, told: RefundOutcome) =>
  sale.db.transaction((tx) => settleRefund(tx, name, told))
const rowOf = async (checkout: Checkout) => {
  const [row] = await refunds.refundRows(sale, checkout)
  if (!row) throw new Error('there is a refund')
  return row
}
/** How a refund and its payment stand. */
const standOf = async (checkout: Checkout) => {
  const payment = await refunds.paymentRow(sale, checkout)
  const rows = await refunds.refundRows(sale, checkout)
  return [...rows.map(({ status }) => status), payment?.status, payment?.refundedAmount]
}
const correctiveOf = (checkout: Checkout) =>
  sale.db.$count(invoices, sql`${invoices.paymentId} = ${checkout.payment_id} and kind = 'corrective'`)

test('a provider that is out of reach leaves it pending, and it is tried again under the same identifier', async () => {
  const checkout = await refunds.buyTickets(sale)
  const id = refunds.ticketOf(checkout)
  outcome = unreachable
  const { refund } = await refunds.refundTicket(sale, id)
  expect(refund).toMatchObject({ status: 'pending', succeededAt: null, ticket: { refunded: 0 } })
  // What is on its way counts as given.
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, id, { amount: 1 }))).toEqual([
    'REFUND_TOO_HIGH 0',
  ])
  expect(await rowOf(checkout)).toMatchObject({ attempts: 1, lastError: 'ECONNREFUSED' })
  outcome = succeeds
  // The pause after a first failure is short, and this machine may be slow.
  await setDue(inSeconds(60), checkout)
  await work()
  expect(asked).toHaveLength(1)
  await letBeDue()
  await work()
  expect(asked.map(({ id }) => id)).toEqual([refund?.id, refund?.id])
  expect(await standOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
  expect(await rowOf(checkout)).toMatchObject({ attempts: 2, lastError: null, reference: `re_${refund?.id}` })
  await letBeDue()
  await work()
  expect(asked).toHaveLength(2)
})

test('each attempt that fails is due later than the last, and an hour later at most', async () => {
  const checkout = await refunds.buyTickets(sale)
  outcome = unreachable
  await refunds.refundTicket(sale, refunds.ticketOf(checkout))
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
  // Of the first, which is short, less may be left by now than this machine takes to look.
  expect(dueAt.getTime() - createdAt.getTime()).toBeGreaterThan(2000)
  expect(first).toBeLessThanOrEqual(5)
  expect(last).toBeGreaterThan(1700)
  expect(last).toBeLessThanOrEqual(3600)
})

test('what a provider refuses for good has failed, and the money can be refunded anew', async () => {
  const checkout = await refunds.buyTickets(sale)
  const id = refunds.ticketOf(checkout)
  outcome = async () => ({ kind: 'failed', code: 'charge_disputed' })
  expect((await refunds.refundTicket(sale, id)).refund?.status).toBe('failed')
  expect(await standOf(checkout)).toEqual(['failed', 'paid', 0])
  expect(await rowOf(checkout)).toMatchObject({ lastError: 'charge_disputed', succeededAt: null })
  expect(await correctiveOf(checkout)).toBe(0)
  outcome = succeeds
  await letBeDue()
  await work()
  expect(asked).toHaveLength(1)
  expect((await refunds.refundTicket(sale, id)).refund).toMatchObject({ status: 'succeeded', amount: 22 })
  expect(await standOf(checkout)).toEqual(['failed', 'succeeded', 'refunded', 2200])
})

test.each([
  ['by our identifier', ({ id }: Asked) => ({ id })],
  ['by its own reference', ({ id }: Asked) => ({ reference: `re_${id}` })],
])('a provider that takes its time tells %s, and once, however often it says so', async (_how, name) => {
  const checkout = await refunds.buyTickets(sale)
  const id = refunds.ticketOf(checkout)
  outcome = decides
  const { refund } = await refunds.refundTicket(sale, id)
  expect(refund?.status).toBe('pending')
  const row = await rowOf(checkout)
  const told: RefundOutcome = { kind: 'succeeded', reference: `re_${row.id}` }
  for (let time = 0; time < 3; time++) expect((await tell(name(row), told))?.status).toBe('succeeded')
  // Too late: it is decided.
  expect(await tell(name(row), { kind: 'failed', code: 'lost_card' })).toMatchObject({
    status: 'succeeded',
    lastError: 'lost_card',
  })
  expect(await standOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
  expect(await correctiveOf(checkout)).toBe(1)
  expect((await refunds.ticketRow(sale, id))?.refunds).toHaveLength(1)
  expect(await refunds.changeTypesOf(sale, checkout.payment_id)).toEqual(['payment.paid', 'payment.refunded'])
})

test('one that takes its time is asked for again, until it is decided', async () => {
  const checkout = await refunds.buyTickets(sale)
  outcome = decides
  const { refund } = await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  await letBeDue()
  await work()
  expect(asked.map(({ id }) => id)).toEqual([refund?.id, refund?.id])
  expect(await rowOf(checkout)).toMatchObject({ status: 'pending', reference: `re_${refund?.id}` })
  outcome = async () => ({ kind: 'failed', code: 'expired_or_canceled_card' })
  await letBeDue()
  await work()
  expect(await standOf(checkout)).toEqual(['failed', 'paid', 0])
})

test('what is told of a refund that nobody knows changes nothing', async () => {
  const told = { kind: 'succeeded', reference: 're_unknown' } as const
  expect(await tell({ id: 'ref_unknown' }, told)).toBeNull()
  expect(await tell({ reference: 're_unknown' }, told)).toBeNull()
})

test('a provider that never answers is waited for only so long', async () => {
  const checkout = await refunds.buyTickets(sale)
  outcome = unreachable
  await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  outcome = () => new Promise(() => {})
  const waited = await giveBack(sale.db, provider, await rowOf(checkout), 0.05)
  expect(waited).toMatchObject({ status: 'pending', lastError: 'TIMEOUT' })
  outcome = succeeds
  await letBeDue()
  await work()
  expect(await standOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
})

test('a webhook that is faster than the answer to the call wins, and the answer changes nothing', async () => {
  const checkout = await refunds.buyTickets(sale)
  outcome = async (refund) => {
    await tell({ id: refund.id }, { kind: 'succeeded', reference: `re_${refund.id}` })
    return succeeds(refund)
  }
  const { refund } = await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  expect(refund?.status).toBe('succeeded')
  outcome = async (refund) => {
    await tell({ id: refund.id }, { kind: 'succeeded', reference: `re_${refund.id}` })
    return unreachable()
  }
  const other = await refunds.buyTickets(sale)
  const answered = await refunds.refundTicket(sale, refunds.ticketOf(other))
  expect(answered.refund).toMatchObject({ status: 'succeeded', ticket: { refunded: 22 } })
  for (const paid of [checkout, other]) {
    expect(await standOf(paid)).toEqual(['succeeded', 'refunded', 2200])
    expect(await correctiveOf(paid)).toBe(1)
  }
})

test('a refund whose process died before it asked is made by another, once its time is over', async () => {
  const checkout = await refunds.buyTickets(sale)
  outcome = unreachable
  await refunds.refundTicket(sale, refunds.ticketOf(checkout), { idempotencyKey: 'died' })
  // As the row stands between its commit and the call.
  await sale.db
    .update(table)
    .set({ lastError: null, dueAt: sql`now() + interval '60 seconds'` })
    .where(eq(table.paymentId, checkout.payment_id))
  outcome = succeeds
  asked = []
  const again = () => refunds.refundTicket(sale, refunds.ticketOf(checkout), { idempotencyKey: 'died' })
  expect((await again()).refund?.status).toBe('pending')
  await work()
  expect(asked).toEqual([])
  await letBeDue()
  await work()
  expect(asked).toHaveLength(1)
  expect((await again()).refund?.status).toBe('succeeded')
  expect(await standOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
})

test('where the database can not settle what the provider did, it is pending, and settled later', async () => {
  const checkout = await refunds.buyTickets(sale)
  await sale.db.execute(sql`create function give_up() returns trigger language plpgsql as
    $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$`)
  await sale.db.execute(sql`create trigger give_up before insert on invoices execute function give_up()`)
  const { refund } = await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  expect(refund).toMatchObject({ status: 'pending', ticket: { refunded: 0 } })
  await sale.db.execute(sql`drop function give_up cascade`)
  await letBeDue()
  await work()
  expect(asked.map(({ id }) => id)).toEqual([refund?.id, refund?.id])
  expect(await standOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
})

test('money is given back by who took it, and waits where that is another provider', async () => {
  const checkout = await refunds.buyTickets(sale)
  await sale.db.update(charges).set({ provider: 'other' }).where(eq(charges.paymentId, checkout.payment_id))
  const { refund } = await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  expect(refund?.status).toBe('pending')
  expect(asked).toEqual([])
  expect(await rowOf(checkout)).toMatchObject({ lastError: 'OTHER_PROVIDER' })
})

const receive = async (checkout: Checkout, reference?: string) =>
  settlePaymentById(sale.db, checkout.payment_id, await refunds.fullPaymentOf(sale, checkout, reference))
const heldIn = (rate: string, price: string) =>
  mustCheckOut(sale, { ticket_rate_id: rate, tickets: [anEntry(price)] })
const expire = async ({ payment_id }: Checkout) => {
  await sale.db.update(payments).set({ expiresAt: sql`now()` }).where(eq(payments.id, payment_id))
  await expireHolds(sale.db, 10)
}

test('late money without a place left goes back by itself, without an invoice, and clients are told', async () => {
  const late = await heldIn('rate_few', 'price_few')
  await expire(late)
  const other = await refunds.buyTickets(sale, 1, {}, 'rate_few')
  await receive(late)
  expect(await standOf(late)).toEqual(['pending', 'expired', 0])
  await work()
  expect(await standOf(late)).toEqual(['succeeded', 'refunded', 2200])
  expect(await rowOf(late)).toMatchObject({ reason: 'LATE_NO_CAPACITY', ticketId: null, amount: 2200 })
  expect(await correctiveOf(late)).toBe(0)
  expect((await refunds.ticketRow(sale, refunds.ticketOf(late)))?.status).toBe('expired')
  expect(await refunds.changeTypesOf(sale, late.payment_id)).toEqual(['payment.expired', 'payment.refunded'])
  // The channel sees it on its payment.
  const { data } = await sale.graphql(
    'query ($id: ID!) { payment(id: $id) { status refundedAmount refunds { reason status amount ticket { id } } } }',
    { id: late.payment_id },
    sale.channel,
  )
  const [refund] = [{ reason: 'LATE_NO_CAPACITY', status: 'succeeded', amount: 22, ticket: null }]
  expect(data).toEqual({ payment: { status: 'refunded', refundedAmount: 22, refunds: [refund] } })
  await refunds.cancelTicket(sale, refunds.ticketOf(other))
})

test('late money that goes back does not undo what later money has paid', async () => {
  const late = await heldIn('rate_few', 'price_few')
  await expire(late)
  const other = await refunds.buyTickets(sale, 1, {}, 'rate_few')
  await receive(late, 'late_1')
  await refunds.cancelTicket(sale, refunds.ticketOf(other))
  await receive(late, 'late_2')
  expect(await standOf(late)).toEqual(['pending', 'paid', 0])
  await work()
  expect(await standOf(late)).toEqual(['succeeded', 'paid', 0])
  expect(asked).toMatchObject([{ charge: 'late_1' }])
  // What is refunded of the ticket is taken from the money that paid.
  await refunds.refundTicket(sale, refunds.ticketOf(late))
  expect(asked).toMatchObject([{ charge: 'late_1' }, { charge: 'late_2' }])
  expect(await standOf(late)).toEqual(['succeeded', 'succeeded', 'refunded', 2200])
})

test('money for a cancelled checkout goes back by itself', async () => {
  const checkout = await heldIn('rate_1', 'price_1')
  await refunds.cancelCheckout(sale, checkout.payment_id)
  await receive(checkout)
  await work()
  expect(await standOf(checkout)).toEqual(['succeeded', 'refunded', 2200])
  expect(await rowOf(checkout)).toMatchObject({ reason: 'CANCELLED' })
  expect(await correctiveOf(checkout)).toBe(0)
})

test('what is paid twice goes back, and changes neither the payment nor its tickets', async () => {
  const checkout = await refunds.buyTickets(sale)
  const payment = await refunds.paymentRow(sale, checkout)
  const ticket = await refunds.ticketRow(sale, refunds.ticketOf(checkout))
  await receive(checkout, 'second')
  await work()
  expect(asked).toMatchObject([{ charge: 'second', amount: 2200 }])
  expect(await rowOf(checkout)).toMatchObject({ reason: 'PAID_TWICE', status: 'succeeded' })
  expect(await refunds.paymentRow(sale, checkout)).toEqual(payment)
  expect(await refunds.ticketRow(sale, refunds.ticketOf(checkout))).toEqual(ticket)
  expect(await correctiveOf(checkout)).toBe(0)
  expect(await refunds.changeTypesOf(sale, checkout.payment_id)).toEqual(['payment.paid'])
  // All that was paid for the ticket can still be refunded, from the money that paid it.
  await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  expect(asked).toMatchObject([{ charge: 'second' }, { charge: `test_${checkout.payment_id}` }])
})
