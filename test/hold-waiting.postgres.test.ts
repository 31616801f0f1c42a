import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { payments } from '../src/payment/table.ts'
import { tickets } from '../src/ticket/table.ts'
import { stock } from '../src/ticket-rate/table.ts'
import { anEntry, checkOut, countersOf } from './checkouts.ts'
import { aCatalogue, anEvent, aRateOf } from './factories.ts'
import { openSale, problemsIn, type Sale } from './sale.ts'

// What checkouts do while somebody else has the counters of their rate.

const places = 10

let sale: Sale
beforeEach(async () => {
  sale = await openSale(aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(places)] })] }))
})
afterEach(() => sale.close())

const buy = (qrCode?: string) =>
  checkOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: [anEntry('price_1', qrCode ? { qr_code: qrCode } : {})],
  })

/** Whether the holds that wait for a lock have written anything: only who has is a transaction with a number. */
async function waitingHolds(): Promise<boolean[]> {
  const rows = (await sale.db.execute(sql`
    select backend_xid is not null as "hasWritten" from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%with moves as%'`)) as unknown as {
    hasWritten: boolean
  }[]
  return rows.map(({ hasWritten }) => hasWritten)
}

/** Buys while the counters are locked, until a hold waits for them. Somebody takes all places but so many meanwhile. */
async function buyWhileLocked(codes: (string | undefined)[], { left }: { left: number }) {
  const { answers, waited } = await sale.db.transaction(async (tx) => {
    await tx.select().from(stock).where(eq(stock.id, 'price_1')).for('update')
    const answers = Promise.all(codes.map(buy))
    await expect.poll(waitingHolds, { timeout: 10_000 }).toHaveLength(1)
    const waited = await waitingHolds()
    await tx
      .update(stock)
      .set({ held: places - left })
      .where(eq(stock.id, 'rate_1'))
    return { answers, waited }
  })
  return { waited, answers: await answers }
}

test('write their rows while they wait, and undo them where they do not fit any more', async () => {
  const { waited, answers } = await buyWhileLocked([undefined, undefined, undefined], { left: 2 })
  expect(waited).toEqual([true])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 409])
  expect(answers[2] && problemsIn(answers[2])).toEqual(['SOLD_OUT tickets'])
  expect(await sale.db.$count(tickets)).toBe(2)
  expect(await sale.db.$count(payments)).toBe(2)
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: places })
})

test('write nothing before it is their turn where they have codes of their own', async () => {
  const { waited, answers } = await buyWhileLocked(['A', undefined, 'A'], { left: places })
  expect(waited).toEqual([false])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 409])
  expect(answers[2] && problemsIn(answers[2])).toEqual(['QR_CODE_TAKEN tickets.0.qr_code'])
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: 2 })
})
