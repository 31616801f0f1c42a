// Runs in: postgres, citus

import { and, eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { stock } from '../../src/domain/stock/table.ts'
import { Refusal } from '../../src/engine/base/errors.ts'
import { anEntry, checkOut } from '../support/checkouts.ts'
import { anEvent, aPrice, aRate } from '../support/factories.ts'
import { dumpCatalogue } from '../support/imports.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import { changeTypesOf } from '../support/refunds.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Imports concurrent with sales and with each other. PGlite has one connection, so these run on PostgreSQL only.

const price = aPrice({ quantity: 60 })
const rate = aRate({ availability: { sold: 0, available: 60 }, prices: [price] })
const event = anEvent({ ticket_rates: [rate] })
const withPlaces = (places: number) => ({
  events: [{ ...event, ticket_rates: [{ ...rate, availability: { sold: 0, available: places } }] }],
})

let sale: Sale
beforeEach(async () => {
  sale = await openSale({ events: [] })
})
afterEach(() => sale.close())

test('concurrent imports of one file add its events once', async () => {
  const file = { events: Array.from({ length: 200 }, () => anEvent()) }
  const summaries = await Promise.all([importCatalogue(sale.db, file), importCatalogue(sale.db, file)])
  expect(summaries.map(({ events }) => events.added).sort()).toEqual([0, 200])
  expect((await dumpCatalogue(sale.db)).events).toHaveLength(200)
})

test('an import that lowers the capacity waits for checkouts, and is refused below what they hold', async () => {
  await importCatalogue(sale.db, withPlaces(60))
  const buying = Array.from({ length: 40 }, () =>
    checkOut(sale, { ticket_rate_id: rate._id, tickets: [anEntry(price._id)] }),
  )
  const importing = [55, 35, 20, 10, 30, 5].map((places) =>
    importCatalogue(sale.db, withPlaces(places)).then(
      () => 'imported',
      (error: unknown) => (error instanceof Refusal ? 'refused' : error),
    ),
  )
  const answers = await Promise.all(buying)
  for (const outcome of await Promise.all(importing)) expect(['imported', 'refused']).toContain(outcome)
  for (const { statusCode, body } of answers) expect([200, 409], body).toContain(statusCode)

  const counted = (await sale.db.select().from(stock)).find(
    ({ id, mode }) => id === rate._id && mode === 'live',
  )
  expect(counted?.held).toBe(answers.filter(({ statusCode }) => statusCode === 200).length)
  expect(counted?.capacity).toBeGreaterThanOrEqual(counted?.held ?? 0)
  // Whoever uses the places up or gives new ones, feed and webhooks are told each time, and the last change is right.
  const told = await changeTypesOf(sale, rate._id)
  expect(told).toEqual(told.map((_, index) => (index % 2 === 0 ? 'rate.sold_out' : 'rate.available')))
  expect(told.at(-1) === 'rate.sold_out').toBe(counted?.capacity === counted?.held)
})

test('an import that waits for a row lock does not delay sales of other rates', async () => {
  // Stock is locked in the order of its ids.
  const first = aRate({ prices: [aPrice({ _id: 'a' })] })
  const file = { events: [anEvent({ _id: 'evt_1', ticket_rates: [first, rate] })] }
  await importCatalogue(sale.db, file)
  const importing = await sale.db.transaction(async (tx) => {
    await tx
      .select()
      .from(stock)
      .where(and(eq(stock.organizationId, 'org_1'), eq(stock.id, 'a')))
      .for('update')
    const importing = importCatalogue(sale.db, file)
    await waitForBlockedStatement(sale.db)
    const answer = await checkOut(sale, { ticket_rate_id: rate._id, tickets: [anEntry(price._id)] })
    expect(answer.statusCode, answer.body).toBe(200)
    return { ended: importing }
  })
  await importing.ended
})
