// Runs in: postgres, citus

import { and, eq, inArray, sql } from 'drizzle-orm'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { invoices } from '../../src/domain/invoice/table.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { expireHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { stock } from '../../src/domain/stock/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { anEntry, checkOut, countersOf } from '../support/checkouts.ts'
import { aCatalogue, anEvent, aPrice, aRate, aRateOf } from '../support/factories.ts'
import { createTestDatabase, startGateway } from '../support/harness.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import { endHolds } from '../support/queued-payments.ts'
import { openSale, restProblems, type Sale } from '../support/sale.ts'
import { settlePaymentById } from '../support/settle-payment.ts'
import { endedOutcome, paidOutcome } from '../support/stub-provider.ts'

// A database with one connection cannot oversell, so these tests run on PostgreSQL only.

const places = 50
const buyers = 200

const catalogue = aCatalogue({
  events: [
    anEvent({
      ticket_rates: [
        aRateOf(places, 100),
        aRate({
          _id: 'rate_steps',
          prices: [
            aPrice({ _id: 'price_first', price: 10, quantity: 10 }),
            aPrice({ _id: 'price_then', price: 20 }),
          ],
          availability: { sold: 0, available: 30 },
        }),
      ],
    }),
  ],
})

let sale: Sale
afterEach(() => sale.close())

const buyOver = (url: string, headers: Record<string, string>, body: object) =>
  fetch(`${url}/tickets/checkout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const oneTicket = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

/** Counts tickets that are held or sold, row by row. */
const rowsOf = (rate: string) =>
  sale.db.$count(tickets, sql`${tickets.ticketRateId} = ${rate} and ${tickets.status} in ('held', 'active')`)

test('200 buyers of the last 50 places: 50 are sold', async () => {
  sale = await openSale(catalogue, { listen: true })
  const answers = await times(buyers, () => buyOver(sale.url, sale.channel, oneTicket))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(places)
  expect(statuses.filter((status) => status === 409)).toHaveLength(buyers - places)
  const refusals = await Promise.all(answers.filter(({ ok }) => !ok).map((answer) => answer.json()))
  expect(new Set(refusals.map(({ code, errors }) => `${code} ${errors[0].available}`))).toEqual(
    new Set(['SOLD_OUT 0']),
  )
  expect(await rowsOf('rate_1')).toBe(places)
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: places })
})

test('control: counting places before taking them oversells', async () => {
  sale = await openSale(catalogue)
  const { db } = sale
  await db.execute(sql`create table naive (id serial)`)
  // Each group counts before any of it inserts. A group of five or ten would fill the places exactly.
  const together = 8
  const waiting: (() => void)[] = []
  const meet = () =>
    new Promise<void>((resolve) => {
      if (waiting.push(resolve) === together) for (const go of waiting.splice(0)) go()
    })
  const sold = await times(buyers, () =>
    db.transaction(async (tx) => {
      const [counted] = await tx.select({ sold: sql<number>`count(*)::integer` }).from(sql`naive`)
      await meet()
      if ((counted?.sold ?? 0) >= places) return false
      await tx.execute(sql`insert into naive default values`)
      return true
    }),
  )
  expect(sold.filter(Boolean).length).toBeGreaterThan(places)
})

test('stock constraint refuses an oversell by any statement', async () => {
  sale = await openSale(catalogue)
  const oversold = sale.db
    .update(stock)
    .set({ held: places + 1 })
    .where(eq(stock.id, 'rate_1'))
  await expect(oversold).rejects.toMatchObject({
    cause: { message: expect.stringContaining('stock_never_oversold') },
  })
})

test('concurrent checkouts of mixed sizes fill several prices and the rate exactly', async () => {
  sale = await openSale(catalogue)
  const answers = await times(60, (index) =>
    checkOut(sale, {
      ticket_rate_id: 'rate_steps',
      tickets: Array.from({ length: 1 + (index % 4) }, () => anEntry('price_first')),
    }),
  )
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 409]))
  const sold = answers
    .filter(({ statusCode }) => statusCode === 200)
    .flatMap((answer) => answer.json().data.tickets)
  const counters = await countersOf(sale)
  const at = (price: string) => sold.filter((ticket) => ticket.price._id === price).length
  expect(counters.price_first).toEqual({ sold: 0, held: at('price_first') })
  expect(counters.price_then).toEqual({ sold: 0, held: at('price_then') })
  expect(counters.rate_steps).toEqual({ sold: 0, held: sold.length })
  expect(await rowsOf('rate_steps')).toBe(sold.length)
  expect(at('price_first')).toBeLessThanOrEqual(10)
  expect(sold.length).toBe(30)
})

test('concurrent checkouts sell one QR code once', async () => {
  sale = await openSale(catalogue)
  const answers = await times(20, () =>
    checkOut(sale, { ...oneTicket, tickets: [anEntry('price_1', { qr_code: 'ONLY' })] }),
  )
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  expect(new Set(answers.filter(({ statusCode }) => statusCode !== 200).flatMap(restProblems))).toEqual(
    new Set(['QR_CODE_TAKEN tickets.0.qr_code']),
  )
})

test('concurrent checkouts with one idempotency key sell once', async () => {
  sale = await openSale(catalogue)
  const answers = await times(20, () => checkOut(sale, oneTicket, { 'idempotency-key': 'same' }))
  // Each answer is the same checkout, or says that it is in progress.
  const outcomes = answers.map((answer) =>
    answer.statusCode === 200 ? answer.json().data.payment_id : restProblems(answer).join(),
  )
  const payments = new Set(outcomes.filter((outcome) => !outcome.startsWith('IDEMPOTENCY_KEY_IN_USE ')))
  expect([...payments]).toEqual([expect.stringMatching(/^pay_/)])
  expect(await rowsOf('rate_1')).toBe(1)
})

test('concurrent checkouts with one key and QR code in two processes sell once', async () => {
  const database = await createTestDatabase()
  sale = await openSale(catalogue, { database })
  const other = { ...sale, ...(await startGateway({ database })) }
  onTestFinished(async () => {
    await other.close()
    await database.drop()
  })
  const entry = anEntry('price_1', { qr_code: 'ONLY' })
  for (const key of ['same', undefined]) {
    const headers: Record<string, string> = key ? { 'idempotency-key': key } : {}
    const answers = await times(40, (index) =>
      checkOut(index % 2 ? other : sale, { ...oneTicket, tickets: [entry] }, headers),
    )
    const outcomes = new Set(
      answers.map((answer) => (answer.statusCode === 200 ? 'made' : restProblems(answer).join())),
    )
    expect([...outcomes].filter((outcome) => !outcome.startsWith('IDEMPOTENCY_KEY_IN_USE '))).toEqual([
      key ? 'made' : 'QR_CODE_TAKEN tickets.0.qr_code',
    ])
  }
  expect(await rowsOf('rate_1')).toBe(1)
})

test('a checkout that waits for a row lock does not delay other rates', async () => {
  sale = await openSale(catalogue)
  const { db } = sale
  let answered = 0
  const waiting: ReturnType<typeof checkOut>[] = []
  await db.transaction(async (tx) => {
    const isPrice = and(eq(stock.organizationId, 'org_1'), eq(stock.id, 'price_1'))
    await tx.select().from(stock).where(isPrice).for('update')
    for (let turn = 0; turn < 5; turn++) {
      const stuck = checkOut(sale, oneTicket)
      void stuck.then(() => answered++)
      waiting.push(stuck)
      const free = await checkOut(sale, { ticket_rate_id: 'rate_steps', tickets: [anEntry('price_then')] })
      expect(free.statusCode).toBe(200)
    }
    expect(answered).toBe(0)
  })
  expect((await Promise.all(waiting)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200])
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: 5 })
})

const late = [
  { further: 10, what: 'that find places' },
  { further: 20, what: 'for more than all places' },
]
test.each(late)(
  'concurrent settlements, cancellations, expiries and checkouts $what keep the counters right',
  async ({ further }) => {
    sale = await openSale(catalogue)
    const { db } = sale
    const made = await times(40, () => checkOut(sale, oneTicket))
    const ids = made.map((answer) => answer.json().data.payment_id as string)
    const overdue = ids.slice(30)
    await endHolds(db, inArray(payments.id, overdue))
    await Promise.all([
      ...ids.map((id) => settlePaymentById(db, id, paidOutcome(id))),
      ...ids.slice(0, 20).map((id) => settlePaymentById(db, id, endedOutcome('cancelled'))),
      ...Array.from({ length: 5 }, () => expireHolds(db, 3)),
      ...Array.from({ length: further }, () => checkOut(sale, oneTicket)),
    ])
    const count = async (status: string) => sale.db.$count(tickets, sql`${tickets.status} = ${status}`)
    expect((await countersOf(sale)).rate_1).toEqual({
      sold: await count('active'),
      held: await count('held'),
    })
    // Payments win over expiry, whose places are claimed again. Those for cancelled checkouts are refunded, and so is
    // one whose place was sold meanwhile, if there is no other.
    const cancelled = await db.$count(payments, sql`${payments.status} = 'cancelled'`)
    expect(await db.$count(refunds, sql`${refunds.reason} = 'PAID_AFTER_CANCELLATION'`)).toBe(cancelled)
    const lost = await db.$count(payments, sql`${payments.status} = 'expired'`)
    expect(lost).toBeLessThanOrEqual(made.length + further - places)
    expect(await db.$count(refunds, sql`${refunds.reason} = 'LATE_NO_CAPACITY'`)).toBe(lost)
    const paid = ids.length - cancelled - lost
    expect(await db.$count(payments, sql`${payments.status} = 'paid'`)).toBe(paid)
    const invoiced = await db.select({ number: invoices.number }).from(invoices).orderBy(invoices.number)
    expect(invoiced.map(({ number }) => number)).toEqual(invoiced.map((_, index) => index + 1))
    expect(invoiced).toHaveLength(paid)
  },
)

// The statement's snapshot precedes the commit it waits for: see movedStock.
test('a late payment that waits for a row lock gets the places freed meanwhile', async () => {
  sale = await openSale(catalogue)
  const { db } = sale
  const late = (await checkOut(sale, oneTicket)).json().data.payment_id as string
  await settlePaymentById(db, late, endedOutcome('expired'))
  await db.execute(sql`update stock set held = ${places} where id = 'rate_1'`)
  let settled: Promise<unknown> | undefined
  await db.transaction(async (tx) => {
    await tx.execute(sql`update stock set held = held - 1 where id = 'rate_1'`)
    settled = settlePaymentById(db, late, paidOutcome(late))
    await waitForBlockedStatement(db)
  })
  await settled
  expect(await db.$count(payments, sql`${payments.status} = 'paid'`)).toBe(1)
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 1, held: places - 1 })
})

test('concurrent checkouts of a full rate all get places of overdue holds', async () => {
  sale = await openSale(catalogue)
  await times(places, () => checkOut(sale, oneTicket))
  await endHolds(sale.db, eq(payments.status, 'pending'))
  const answers = await times(places, () => checkOut(sale, oneTicket))
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: places })
})
