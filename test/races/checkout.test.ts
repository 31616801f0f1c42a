import { eq, sql } from 'drizzle-orm'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { invoices } from '../../src/domain/invoice/table.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { expireHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { stock } from '../../src/domain/ticket-rate/table.ts'
import { anEntry, checkOut, countersOf } from '../support/checkouts.ts'
import { aCatalogue, anEvent, aPrice, aRate, aRateOf } from '../support/factories.ts'
import { createTestDatabase, startGateway } from '../support/harness.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import { openSale, restProblems, type Sale } from '../support/sale.ts'
import { settlePaymentById } from '../support/settle-payment.ts'
import { endedOutcome, paidOutcome } from '../support/stub-provider.ts'

// A database with one connection cannot show an oversell, so these run on PostgreSQL alone.

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

const one = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

/** Tickets that hold or have a place, counted one by one. */
const rowsOf = (rate: string) =>
  sale.db.$count(tickets, sql`${tickets.ticketRateId} = ${rate} and ${tickets.status} in ('held', 'active')`)

test('sells the last 50 places to 50 of 200 buyers', async () => {
  sale = await openSale(catalogue, { listen: true })
  const answers = await times(buyers, () => buyOver(sale.url, sale.channel, one))
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

test('oversells where places are counted before they are taken: the control of the test above', async () => {
  sale = await openSale(catalogue)
  const { db } = sale
  await db.execute(sql`create table naive (id serial)`)
  // None of so many takes a place before all of them have counted. By fives or tens they would fill it exactly.
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

test('never passes a limit, even where the verb would not look: the constraint stands by itself', async () => {
  sale = await openSale(catalogue)
  const oversold = sale.db
    .update(stock)
    .set({ held: places + 1 })
    .where(eq(stock.id, 'rate_1'))
  await expect(oversold).rejects.toMatchObject({ cause: { constraint_name: 'stock_never_oversold' } })
})

test('fills several prices and the rate exactly, large and small checkouts mixed', async () => {
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

test('sells one code once', async () => {
  sale = await openSale(catalogue)
  const answers = await times(20, () =>
    checkOut(sale, { ...one, tickets: [anEntry('price_1', { qr_code: 'ONLY' })] }),
  )
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  expect(new Set(answers.filter(({ statusCode }) => statusCode !== 200).flatMap(restProblems))).toEqual(
    new Set(['QR_CODE_TAKEN tickets.0.qr_code']),
  )
})

test('makes one checkout of many with the same idempotency key', async () => {
  sale = await openSale(catalogue)
  const answers = await times(20, () => checkOut(sale, one, { 'idempotency-key': 'same' }))
  // Each is that checkout again, or told that it is in progress.
  const outcomes = answers.map((answer) =>
    answer.statusCode === 200 ? answer.json().data.payment_id : restProblems(answer).join(),
  )
  const payments = new Set(outcomes.filter((outcome) => !outcome.startsWith('IDEMPOTENCY_KEY_IN_USE ')))
  expect([...payments]).toEqual([expect.stringMatching(/^pay_/)])
  expect(await rowsOf('rate_1')).toBe(1)
})

test('makes one checkout of many with the same key and code, in two processes', async () => {
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
      checkOut(index % 2 ? other : sale, { ...one, tickets: [entry] }, headers),
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

test('sells other rates while somebody else has the counters of one', async () => {
  sale = await openSale(catalogue)
  const { db } = sale
  let answered = 0
  const waiting: ReturnType<typeof checkOut>[] = []
  await db.transaction(async (tx) => {
    await tx.select().from(stock).where(eq(stock.id, 'price_1')).for('update')
    for (let turn = 0; turn < 5; turn++) {
      const stuck = checkOut(sale, one)
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

test('settles, cancels, expires and sells at once without losing count', async () => {
  sale = await openSale(catalogue)
  const { db } = sale
  const made = await times(40, () => checkOut(sale, one))
  const ids = made.map((answer) => answer.json().data.payment_id as string)
  const overdue = ids.slice(30)
  await times(overdue.length, (index) =>
    db
      .update(payments)
      .set({ expiresAt: sql`now()` })
      .where(eq(payments.id, overdue[index] ?? '')),
  )
  await Promise.all([
    ...ids.map((id) => settlePaymentById(db, id, paidOutcome(id))),
    ...ids.slice(0, 20).map((id) => settlePaymentById(db, id, endedOutcome('cancelled'))),
    ...Array.from({ length: 5 }, () => expireHolds(db, 3)),
    ...Array.from({ length: 20 }, () => checkOut(sale, one)),
  ])
  const count = async (status: string) => sale.db.$count(tickets, sql`${tickets.status} = ${status}`)
  expect((await countersOf(sale)).rate_1).toEqual({ sold: await count('active'), held: await count('held') })
  // Money wins wherever it came: what had expired was claimed again, what was cancelled is given back.
  expect(await db.$count(payments, sql`${payments.status} = 'expired'`)).toBe(0)
  const cancelled = await db.$count(payments, sql`${payments.status} = 'cancelled'`)
  expect(await db.$count(payments, sql`${payments.status} = 'paid'`)).toBe(ids.length - cancelled)
  expect(await db.$count(refunds, sql`${refunds.reason} = 'CANCELLED'`)).toBe(cancelled)
  const invoiced = await db.select({ number: invoices.number }).from(invoices).orderBy(invoices.number)
  expect(invoiced.map(({ number }) => number)).toEqual(invoiced.map((_, index) => index + 1))
  expect(invoiced).toHaveLength(ids.length - cancelled)
})

// Its statement began while they were taken: see movedStock.
test('gives late money the places that are given back while it waits for their counters', async () => {
  sale = await openSale(catalogue)
  const { db } = sale
  const late = (await checkOut(sale, one)).json().data.payment_id as string
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

test('frees overdue holds for everybody who finds the rate full at the same time', async () => {
  sale = await openSale(catalogue)
  await times(places, () => checkOut(sale, one))
  await sale.db.update(payments).set({ expiresAt: sql`now()` })
  const answers = await times(places, () => checkOut(sale, one))
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: places })
})
