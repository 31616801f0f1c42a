import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimDue } from '../../src/data/leased-jobs.ts'
import { lockPayment } from '../../src/domain/payment/lock-payment.ts'
import { isOverdue, payments } from '../../src/domain/payment/table.ts'
import { refunds as table } from '../../src/domain/refund/table.ts'
import { anEntry, mustCheckOut } from '../support/checkouts.ts'
import { aCatalogue, anEvent, aRateOf } from '../support/factories.ts'
import * as refunds from '../support/refunds.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Columns keep milliseconds, and round: what they keep of right now is ahead of the clock every other time. Within one
// transaction that clock stands still.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(10)] })] }))
})
afterAll(() => sale.close())

const times = Array.from({ length: 40 }, (_, time) => time)
const now = sql`now()`
const held = async () => {
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  return (await mustCheckOut(sale, body)).payment_id
}

test('what is due right now is taken right now', async () => {
  const checkout = await refunds.buyTickets(sale)
  await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  const isThis = eq(table.paymentId, checkout.payment_id)
  for (const _ of times)
    await sale.db.transaction(async (tx) => {
      await tx.update(table).set({ status: 'pending', dueAt: now }).where(isThis)
      expect(await claimDue(tx, table, { limit: 2, leaseSeconds: 60 })).toHaveLength(1)
    })
})

test('a payment whose time is over right now is overdue right now', async () => {
  const id = await held()
  const isThis = eq(payments.id, id)
  for (const _ of times)
    await sale.db.transaction(async (tx) => {
      await tx.update(payments).set({ expiresAt: now }).where(isThis)
      expect(await lockPayment(tx, id)).toMatchObject({ isOverdue: true })
      expect(await tx.$count(payments, sql`${isThis} and ${isOverdue}`)).toBe(1)
    })
})

test('the control: by the clock alone it is not, every other time', async () => {
  const isThis = eq(payments.id, await held())
  let ahead = 0
  // Many more than it takes: forty may be in step with the clock.
  for (let time = 0; ahead === 0 && time < 1000; time++)
    await sale.db.transaction(async (tx) => {
      await tx.update(payments).set({ expiresAt: now }).where(isThis)
      ahead += await tx.$count(payments, sql`${isThis} and ${payments.expiresAt} > now()`)
    })
  expect(ahead).toBe(1)
})

test('rows that somebody else is at are left to them, and the others are taken at once', async () => {
  const [first, second] = [await refunds.buyTickets(sale), await refunds.buyTickets(sale)]
  for (const checkout of [first, second]) await refunds.refundTicket(sale, refunds.ticketOf(checkout))
  await sale.db.update(table).set({ status: 'pending', dueAt: sql`now() + interval '1 hour'` })
  const isOf = ({ payment_id }: typeof first) => eq(table.paymentId, payment_id)
  await sale.db.update(table).set({ dueAt: sql`now() - interval '2 seconds'` }).where(isOf(first))
  await sale.db.update(table).set({ dueAt: sql`now() - interval '1 second'` }).where(isOf(second))
  await sale.db.transaction(async (tx) => {
    await tx.select().from(table).where(isOf(first)).for('update')
    const taken = await claimDue(sale.db, table, { limit: 2, leaseSeconds: 60 })
    expect(taken.map(({ paymentId }) => paymentId)).toEqual([second.payment_id])
  })
})
