// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countersOf } from '../support/checkouts.ts'
import { aDiscount } from '../support/discounts.ts'
import { aCatalogue, anEvent, anOrganization, aRateNamed } from '../support/factories.ts'
import { openHttpBuyers, type Purchase } from '../support/http-buyers.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { openServedSale, type ServedSale } from '../support/served-sale.ts'

// Two processes of the built service, and many buyers with one code at once.

const uses = 50
const sharedUses = 60
const buyers = 1000
const connections = 100
const processes = 2

const catalogue = aCatalogue({
  organizations: [
    anOrganization({
      discounts: [
        aDiscount({ code: 'flash', percentage: 50, quantity: uses }),
        aDiscount({ code: 'shared', percentage: 50, quantity: sharedUses }),
      ],
    }),
  ],
  events: [
    anEvent({
      ticket_rates: ['1', '2', '3'].map((number) =>
        aRateNamed(number, { availability: { sold: 0, available: 10_000 } }),
      ),
    }),
  ],
})

let opened: ServedSale
let sale: ServedSale['sale']
let service: ServedSale['service']
beforeAll(async () => {
  opened = await openServedSale(catalogue, processes)
  ;({ sale, service } = opened)
})
afterAll(() => opened?.close())

const deadlocks = async () => {
  const rows = await sale.db
    .select({ count: sql<number>`deadlocks::integer` })
    .from(sql`pg_stat_database`)
    .where(sql`datname = current_database()`)
  return rows[0]?.count
}

/** Sends all purchases at once, and pays every other one that is made, while others still check out. */
async function rush(purchases: Purchase[]) {
  const { buy, pay, close } = openHttpBuyers(sale.channel, connections)
  const outcomes = await Promise.all(
    purchases.map(async (purchase, index) => {
      const outcome = await buy(service.url, purchase)
      if (outcome.payment && index % 2 === 0) expect(await pay(service.url, outcome.payment)).toBe(200)
      return outcome
    }),
  )
  close()
  const bought = outcomes.filter(({ payment }) => payment)
  const refused = outcomes.filter(({ payment }) => !payment)
  return {
    bought: bought.length,
    refused: new Set(refused.map(({ status, code, available }) => `${status} ${code} ${available}`)),
  }
}

const purchase = (index: number, rate: number, discountCode?: string): Purchase => ({
  rate: `rate_${rate}`,
  price: `price_${rate}`,
  surface: index % 4 < 2 ? 'rest' : 'graphql',
  discountCode,
})

const usesIn = async (id: string) => {
  const { held = 0, sold = 0 } = (await countersOf(sale))[id] ?? {}
  return held + sold
}

test('1,000 buyers of 50 uses over 2 processes: exactly 50 are used and every buyer is answered', async () => {
  const { bought, refused } = await rush(
    Array.from({ length: buyers }, (_, index) => purchase(index, 1, 'flash')),
  )
  expect(bought).toBe(uses)
  // GraphQL answers refusals with 200.
  expect(refused).toEqual(new Set(['409 DISCOUNT_USED_UP 0', '200 DISCOUNT_USED_UP 0']))
  expect(await usesIn('dsc_flash')).toBe(uses)
  expect(await usesIn('rate_1')).toBe(uses)
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('two rates that share a discount are sold at once, with and without it, and neither waits for ever', async () => {
  const before = await deadlocks()
  const { bought, refused } = await rush(
    Array.from({ length: 600 }, (_, index) =>
      purchase(index, 2 + (index % 2), index % 3 === 0 ? undefined : 'shared'),
    ),
  )
  // A third buys without the code.
  expect(bought).toBe(200 + sharedUses)
  expect(refused).toEqual(new Set(['409 DISCOUNT_USED_UP 0', '200 DISCOUNT_USED_UP 0']))
  expect(await usesIn('dsc_shared')).toBe(sharedUses)
  expect((await usesIn('rate_2')) + (await usesIn('rate_3'))).toBe(bought)
  expect(await deadlocks()).toBe(before)
  expect(await brokenInvariants(sale.db)).toEqual([])
})
