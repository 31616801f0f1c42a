import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { sweepHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { closeSessions } from '../../src/domain/sale/settle/provider-session.ts'
import { countersOf } from '../support/checkouts.ts'
import { shared } from '../support/harness.ts'
import { openStripeSale } from '../support/stripe-sale.ts'
import { signEvent } from '../support/stub-stripe.ts'

// Concurrent events and requests for one payment, over as many connections.

const sale = shared(openStripeSale)

const beginPayment = async () => {
  const checkout = await sale.checkOut()
  return { checkout, session: await sale.goToStripe(checkout) }
}

test('concurrent copies of one stripe event take effect once', async () => {
  const { sold = 0 } = (await countersOf(sale)).rate_1 ?? {}
  const { checkout, session } = await beginPayment()
  const event = signEvent(sale.fake.pay(session.id))
  const answers = await Promise.all(Array.from({ length: 10 }, () => sale.send(event)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 10 }, () => 200))
  expect(answers.map((answer) => answer.json().received).sort()).toEqual([
    'done',
    ...Array.from({ length: 9 }, () => 'repeated'),
  ])
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  expect(await sale.chargesOf(checkout)).toBe(1)
  expect(await sale.refundsOf(checkout)).toEqual([])
  expect((await countersOf(sale)).rate_1).toMatchObject({ sold: sold + 1 })
})

test('concurrent stripe events, looks and cancellations of a payment neither deadlock nor count twice', async () => {
  const { sold = 0, held = 0 } = (await countersOf(sale)).rate_1 ?? {}
  const many = await Promise.all(Array.from({ length: 8 }, beginPayment))
  await Promise.all(
    many.flatMap(({ checkout, session }) => {
      const events = [sale.fake.order(session.id), sale.fake.succeed(session.id), sale.fake.fail(session.id)]
      // Stripe's own state is paid in the end.
      sale.fake.succeed(session.id)
      return [
        ...events.map((event) => sale.deliver(event)),
        sale.comeBack(checkout),
        sale.buyer.cancel(checkout),
        sale.buyer.view(checkout),
      ]
    }),
  )
  for (const { checkout } of many) {
    expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
    expect(await sale.chargesOf(checkout)).toBe(1)
    expect(await sale.refundsOf(checkout)).toEqual([])
  }
  expect((await countersOf(sale)).rate_1).toEqual({ sold: sold + 8, held })
})

test('concurrent jobs that end sessions and holds leave none open and lose no money', async () => {
  const many = await Promise.all(Array.from({ length: 12 }, beginPayment))
  const paid = many.slice(0, 6)
  for (const { session } of paid) sale.fake.pay(session.id)
  for (const { checkout } of many) await sale.buyer.expire(checkout)
  sale.fake.asked.length = 0
  await Promise.all([
    sale.closeDue(),
    sale.closeDue(),
    closeSessions(sale),
    sweepHolds(sale.db),
    sweepHolds(sale.db),
  ])
  // Locked rows were skipped, and are due again.
  await sale.closeDue()
  const ends = sale.fake.asked.filter(({ path }) => path.endsWith('/expire'))
  expect(new Set(ends.map(({ path }) => path)).size).toBe(12)
  for (const { checkout } of paid) expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
  for (const { checkout } of many.slice(6))
    expect(await sale.buyer.statusesOf(checkout)).toEqual(['expired', 'expired'])
})

test('stripe sessions due are found by index among many payments', async () => {
  await beginPayment()
  await sale.db.execute(sql`insert into payments select copy.* from payments as one, generate_series(1, 5000) as n,
    jsonb_populate_record(one, jsonb_build_object('id', 'copy_' || n, 'page_token', 'copy_' || n, 'session_id', null,
      'session_open', false)) as copy where one.id = (select id from payments limit 1)`)
  await sale.db.execute(sql`insert into open_sessions (organization_id, provider, session_id, payment_id, due_at)
    select organization_id, 'stripe', id, id, now() + interval '1 hour' from payments where id like 'copy%'`)
  await sale.db.execute(sql`analyze payments, open_sessions`)
  sale.statements.reset()
  await closeSessions(sale)
  const [take = ''] = sale.statements
  const rows = await sale.db.execute<{ 'QUERY PLAN': string }>(sql.raw(`explain (generic_plan) ${take}`))
  const plan = JSON.stringify(rows)
  expect(plan).toContain('open_sessions_provider_due_at_index')
  expect(plan).not.toContain('Seq Scan')
})
