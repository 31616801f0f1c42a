// Runs in: postgres

import { eq, sql } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { settlePayment } from '../../src/domain/sale/settle/settle-payment.ts'
import type { Checkout } from '../support/checkouts.ts'
import { aCatalogue, anEvent, aRateNamed } from '../support/factories.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { endedOutcome, paidOutcome } from '../support/stub-provider.ts'
import { holdTickets } from '../support/tickets.ts'

// A payment that cannot be settled neither fails nor delays the others in its batch, and many payments leave
// connections for other requests.

let sale: Sale
afterEach(async () => {
  expect(await brokenInvariants(sale.db)).toEqual([])
  await sale.close()
})

const numbers = [1, 2, 3]

const catalogue = () =>
  aCatalogue({
    events: numbers.map((number) =>
      anEvent({
        ticket_rates: [aRateNamed(String(number))],
      }),
    ),
  })

const sell = (count: number, rate = 1): Promise<Checkout[]> =>
  Promise.all(Array.from({ length: count }, () => holdTickets(sale, { rate })))

const settle = (id: string, outcome = paidOutcome(id), rate = 1) =>
  settlePayment(sale.db, {
    payment: { id, organizationId: 'org_1', ticketRateId: `rate_${rate}`, mode: 'live' },
    outcome,
  })

const statusOf = async (id: string) =>
  (await sale.db.select({ status: payments.status }).from(payments).where(eq(payments.id, id)))[0]?.status

test('a payment with a locked row waits, and others in its batch do not', async () => {
  sale = await openSale(catalogue())
  const [locked, ...others] = (await sell(10)).map(({ payment_id }) => payment_id)
  if (!locked) throw new Error('a checkout was made')
  let waiting: Promise<unknown> | undefined
  await sale.db.transaction(async (tx) => {
    await tx.execute(sql`select from payments where id = ${locked} for update`)
    waiting = settle(locked)
    const settled = await Promise.all(others.map((id) => settle(id)))
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['paid']))
    expect(await statusOf(locked)).toBe('pending')
    // Later payments do not wait either.
    const [after] = await sell(1)
    expect((await settle(after?.payment_id ?? '')).status).toBe('paid')
  })
  expect(await waiting).toMatchObject({ status: 'paid' })
})

test('a payment that fails does not fail others in its batch', async () => {
  sale = await openSale(catalogue())
  const ids = (await sell(10)).map(({ payment_id }) => payment_id)
  const poison = ids[4] ?? ''
  await sale.db.execute(
    sql.raw(`create function fail() returns trigger language plpgsql as
      $$ begin if new.id = '${poison}' then raise exception 'it fails'; end if; return new; end $$`),
  )
  await sale.db.execute(
    sql`create trigger fail before update on payments for each row execute function fail()`,
  )
  const settled = await Promise.allSettled(ids.map((id) => settle(id)))
  const failed = settled.map(({ status }) => status === 'rejected')
  expect(failed).toEqual(ids.map((id) => id === poison))
  expect(await statusOf(poison)).toBe('pending')
  await sale.db.execute(sql`drop trigger fail on payments`)
  expect((await settle(poison)).status).toBe('paid')
})

test('payments and failures in one batch each have their own outcome', async () => {
  sale = await openSale(catalogue())
  const ids = (await sell(12)).map(({ payment_id }) => payment_id)
  const outcomeOf = (id: string, index: number) =>
    [paidOutcome(id), endedOutcome('cancelled'), endedOutcome('failed'), { kind: 'processing' as const }][
      index % 4
    ]
  const settled = await Promise.all(ids.map((id, index) => settle(id, outcomeOf(id, index))))
  const kinds = ['paid', 'cancelled', 'failed', 'processing']
  expect(settled.map(({ status }) => status)).toEqual(ids.map((_, index) => kinds[index % 4]))
})

test.each([1, 3, 20])('%i concurrent payments of each of three rates take 13 statements', async (count) => {
  sale = await openSale(catalogue())
  const bought = await Promise.all(numbers.map((rate) => sell(count, rate)))
  sale.statements.reset()
  await Promise.all(
    bought.flatMap((checkouts, index) =>
      checkouts.map(({ payment_id: id }) => settle(id, paidOutcome(id), numbers[index])),
    ),
  )
  expect(sale.statements.length).toBe(13)
})

test('many concurrent payments leave connections for other requests', async () => {
  sale = await openSale(catalogue())
  const buyer = openPageBuyer(sale)
  const bought = await sell(40)
  const id = bought[0]?.tickets[0]?._id
  const waiting = () =>
    sale.db.$count(sql`pg_stat_activity`, sql`datname = current_database() and wait_event_type = 'Lock'`)
  let paying: ReturnType<typeof buyer.pay>[] = []
  let apart: Promise<unknown>[] = []
  await sale.db.transaction(async (tx) => {
    await tx.execute(sql`select from stock where id = 'rate_1' for update`)
    paying = bought.map((checkout) => buyer.pay(checkout))
    await waitForBlockedStatement(sale.db)
    const looked = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
    expect(looked.json()).toMatchObject({ data: { status: 'pending' } })
    expect(await waiting()).toBeLessThanOrEqual(3)
    // Control: as many separate transactions would wait on more connections.
    apart = bought
      .slice(0, 6)
      .map(() =>
        sale.db.transaction((alone) => alone.execute(sql`select from stock where id = 'rate_1' for update`)),
      )
    await expect.poll(waiting).toBeGreaterThan(3)
  })
  await Promise.all(apart)
  const answers = await Promise.all(paying)
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
})
