// Runs in: postgres

import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { expireHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { anEntry, checkOut } from '../support/checkouts.ts'
import { anEvent, aPrice, aRate, aRateNamed } from '../support/factories.ts'
import { seed } from '../support/fuzz/seed.ts'
import { dumpCatalogue } from '../support/imports.ts'
import { inTestMode } from '../support/modes.ts'
import { cancelTicket } from '../support/refunds.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { settlePaymentById } from '../support/settle-payment.ts'
import { paidOutcome } from '../support/stub-provider.ts'

// An export that is imported changes nothing, whatever is sold, held and cancelled before it, and between the two.

const free = aPrice({ _id: 'price_free', price: 0, fee_quantity: 0, quantity: 12 })
const dear = aPrice({ _id: 'price_dear', name: 'Dear' })
const rate = aRate({ _id: 'rate_1', availability: { sold: 2, available: 18 }, prices: [free, dear] })
const hidden = aRateNamed('2', { availability: null, show_all_prices: false }, { quantity: 5 })
const event = anEvent({ _id: 'evt_1', ticket_rates: [rate, hidden] })

let sale: Sale
let trial: Sale
beforeEach(async () => {
  sale = await openSale({ events: [event] })
  trial = await inTestMode(sale)
})
afterEach(() => sale.close())

const sales = fc.oneof(
  fc.record({
    do: fc.constant('sell' as const),
    price: fc.constantFrom('price_free', 'price_dear', 'price_2'),
    count: fc.integer({ min: 1, max: 4 }),
    isTest: fc.boolean(),
  }),
  fc.record({ do: fc.constantFrom('pay' as const, 'cancel' as const, 'expire' as const) }),
)
const edits = fc.record({
  do: fc.constant('edit' as const),
  capacity: fc.option(fc.integer({ min: 0, max: 40 })),
  soldElsewhere: fc.integer({ min: 0, max: 9 }),
  complete: fc.boolean(),
})
type Act = typeof sales | typeof edits extends fc.Arbitrary<infer Of> ? Of : never

async function act(step: Act, tickets: string[]): Promise<void> {
  if (step.do === 'sell') {
    const body = {
      ticket_rate_id: step.price === 'price_2' ? 'rate_2' : 'rate_1',
      tickets: Array.from({ length: step.count }, () => anEntry(step.price)),
    }
    const answer = await checkOut(step.isTest ? trial : sale, body)
    if (answer.statusCode !== 200 || step.isTest) return
    const { data } = answer.json<{ data: { tickets: { _id: string }[] } }>()
    tickets.push(...data.tickets.map(({ _id }) => _id))
  } else if (step.do === 'pay') {
    const [payment] = await sale.db.select().from(payments).where(sql`status = 'pending'`).limit(1)
    if (!payment) return
    const { id, totalAmount: amount, currency } = payment
    await settlePaymentById(sale.db, id, paidOutcome(id, { amount, currency }))
  } else if (step.do === 'cancel') await cancelTicket(sale, tickets.shift() ?? 'tkt_none').catch(() => {})
  else if (step.do === 'expire') {
    await sale.db.execute(
      sql`update payments set expires_at = now() - interval '1 minute' where id in (select id from payments where status = 'pending' limit 1)`,
    )
    await expireHolds(sale.db, 100)
  } else if (step.do === 'edit') {
    const availability = { capacity: step.capacity, sold_elsewhere: step.soldElsewhere }
    const changed = {
      events: [{ ...event, ticket_rates: [{ ...rate, availability, complete: step.complete }, hidden] }],
    }
    // A capacity below what is used is refused.
    await importCatalogue(sale.db, changed).catch(() => {})
  }
}

test(`an export that is imported is the identity on random histories with FUZZ_SEED=${seed}`, async () => {
  let sold = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 4, arbitrary: sales }, edits), { maxLength: 12 }),
      fc.array(sales, { maxLength: 4 }),
      fc.constantFrom('*', '*,capacity'),
      async (history, between, populate) => {
        const tickets: string[] = []
        for (const step of history) await act(step, tickets)
        const answer = await sale.rest('GET', `/events?populate=${populate}`, { headers: sale.channel })
        for (const step of between) await act(step, tickets)
        const before = await dumpCatalogue(sale.db)
        await importCatalogue(sale.db, { events: answer.json().data })
        expect(await dumpCatalogue(sale.db)).toEqual(before)
        sold += tickets.length
      },
    ),
    // Histories go on from each other, so that only all of them repeat a failure, and none is shrunk.
    { seed, numRuns: 40, endOnFailure: true },
  )
  // The control: histories sell, until what they share is sold out.
  expect(sold).toBeGreaterThan(5)
})
