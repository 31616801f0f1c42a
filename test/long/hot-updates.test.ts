import { sql } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { sweepHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { transferTicket } from '../support/attendees.ts'
import type { Checkout } from '../support/checkouts.ts'
import { anEventAtDoor, scanTicket } from '../support/door.ts'
import { aCatalogue, aRateOf } from '../support/factories.ts'
import { shared } from '../support/harness.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { cancelTicket, refundTicket } from '../support/refunds.ts'
import { openStripeSale } from '../support/stripe-sale.ts'
import { ticketOf } from '../support/tickets.ts'

// Updates that write no index (heap-only tuples), as PostgreSQL counts them, over lives of many tickets: 20 buyers at a time
// check out, pay and enter, as in a rush.

const checkouts = 200
const together = 20

const event = anEventAtDoor({ ticket_rates: [aRateOf(1000)] })
const sale = shared(() => openStripeSale(aCatalogue({ events: [event] })))

/** Calls a function for each checkout, a few at a time. */
async function each(list: Checkout[], act: (checkout: Checkout) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < list.length; from += together)
    await Promise.all(list.slice(from, from + together).map(act))
}

const updatesOf = async (table: string) => {
  const [found] = await sale.db
    .select({ updates: sql<number>`n_tup_upd::integer`, hot: sql<number>`n_tup_hot_upd::integer` })
    .from(sql`pg_stat_user_tables`)
    .where(sql`relname = ${table}`)
  return found ?? { updates: 0, hot: 0 }
}

test('payments and tickets are updated without a write to their indexes', async () => {
  const made: Checkout[] = []
  for (let n = 0; n < checkouts; n += together)
    made.push(...(await Promise.all(Array.from({ length: together }, () => sale.checkOut({}, 2)))))
  await each(made, (checkout) => sale.buyer.view(checkout))
  // Buyers who came together pay in any order: identifiers end in random characters.
  const shuffled = made.toSorted((one, other) =>
    one.payment_id.slice(-8) < other.payment_id.slice(-8) ? -1 : 1,
  )
  const [left, bought] = [shuffled.slice(0, 20), shuffled.slice(20)]
  await each(bought, async (checkout) => {
    const { id } = await sale.goToStripe(checkout)
    await sale.deliver(sale.fake.pay(id))
    await sale.comeBack(checkout)
  })
  await each(left, (checkout) => sale.buyer.expire(checkout))
  await sweepHolds(sale.db)
  await each(bought.slice(0, 10), (checkout) => transferTicket(sale, ticketOf(checkout)))
  await each(bought.slice(10, 15), (checkout) => cancelTicket(sale, ticketOf(checkout)))
  await each(bought.slice(15, 20), (checkout) => refundTicket(sale, ticketOf(checkout)))
  await each(bought.slice(20), async (checkout) => {
    await scanTicket(sale, { ticketId: ticketOf(checkout) })
    await scanTicket(sale, { ticketId: ticketOf(checkout, 1) })
    await scanTicket(sale, { ticketId: ticketOf(checkout), direction: 'OUT' })
  })
  // The counts of a connection follow a second after it was last used.
  await vi.waitFor(async () => {
    expect((await updatesOf('tickets')).updates).toBeGreaterThan(860)
    expect((await updatesOf('payments')).updates).toBeGreaterThan(380)
  }, 20_000)
  for (const table of ['payments', 'tickets']) {
    const { updates, hot } = await updatesOf(table)
    expect(hot / updates, `${hot} of ${updates} updates of ${table}`).toBeGreaterThanOrEqual(0.8)
  }
  expect(await brokenInvariants(sale.db)).toEqual([])
})
