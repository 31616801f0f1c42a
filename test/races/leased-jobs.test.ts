// Runs in: postgres

import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { lockPayment } from '../../src/domain/payment/lock-payment.ts'
import { isOverdue, payments } from '../../src/domain/payment/table.ts'
import { refunds as table } from '../../src/domain/refund/table.ts'
import { claimDue } from '../../src/engine/data/leased-jobs.ts'
import { aRateOf } from '../support/factories.ts'
import { movePayments } from '../support/queued-payments.ts'
import * as refunds from '../support/refunds.ts'
import { sharedSale } from '../support/sale.ts'
import { aRefundedTicket, buyTickets, holdTickets, ticketOf } from '../support/tickets.ts'

// Columns round to milliseconds, so that a stored now() is ahead of the clock half of the time. In a
// transaction the clock stands still.

const sale = sharedSale({ rates: [aRateOf(10)] })

const times = Array.from({ length: 40 }, (_, time) => time)
const now = sql`now()`
const makeHold = async () => (await holdTickets(sale)).payment_id

test('a job due now is claimed now', async () => {
  const { checkout } = await aRefundedTicket(sale)
  const isThis = eq(table.paymentId, checkout.payment_id)
  for (const _ of times)
    await sale.db.transaction(async (tx) => {
      await tx.update(table).set({ status: 'pending', dueAt: now }).where(isThis)
      expect(await claimDue(tx, table, { limit: 2, leaseSeconds: 60 })).toHaveLength(1)
    })
})

test('a payment that expires now is overdue now', async () => {
  const id = await makeHold()
  const isThis = eq(payments.id, id)
  for (const _ of times)
    await sale.db.transaction(async (tx) => {
      await movePayments(tx, isThis, { expiresAt: now })
      expect(await lockPayment(tx, { organizationId: 'org_1', id })).toMatchObject({ isOverdue: true })
      expect(await tx.$count(payments, sql`${isThis} and ${isOverdue}`)).toBe(1)
    })
})

test('control: compared with the exact clock it is not, half of the time', async () => {
  const isThis = eq(payments.id, await makeHold())
  let ahead = 0
  // Far more than needed: forty may be in step with the clock.
  for (let time = 0; ahead === 0 && time < 1000; time++)
    await sale.db.transaction(async (tx) => {
      await movePayments(tx, isThis, { expiresAt: now })
      ahead += await tx.$count(payments, sql`${isThis} and ${payments.expiresAt} > now()`)
    })
  expect(ahead).toBe(1)
})

test('locked jobs are skipped and others claimed at once', async () => {
  const [first, second] = [await buyTickets(sale), await buyTickets(sale)]
  for (const checkout of [first, second]) await refunds.refundTicket(sale, ticketOf(checkout))
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
