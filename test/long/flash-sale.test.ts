// Runs in: citus, long

import { afterAll, beforeAll, expect, test } from 'vitest'
import { aCatalogue, anEvent, aRateOf } from '../support/factories.ts'
import { type Outcome, openHttpBuyers, readStockTotals } from '../support/http-buyers.ts'
import { openServedSale, type ServedSale } from '../support/served-sale.ts'

// Four processes of the built service, one rate, and all buyers at once.

const places = 500
const buyers = 2000
const connections = 200
const processes = 4

const catalogue = aCatalogue({
  events: [
    anEvent({
      ticket_rates: [aRateOf(places)],
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

const percentile = (outcomes: Outcome[], share: number): number =>
  Math.round(
    outcomes.map(({ ms }) => ms).toSorted((one, other) => one - other)[Math.floor(outcomes.length * share)] ??
      0,
  )

test('2,000 buyers of 500 places over 4 processes: 500 are sold and every buyer is answered', async () => {
  const { buy, pay, close } = openHttpBuyers(sale.channel, connections)
  const beganAt = performance.now()
  const outcomes = await Promise.all(
    Array.from({ length: buyers }, (_, index) =>
      buy(service.url, {
        rate: 'rate_1',
        price: 'price_1',
        surface: index % 2 === 0 ? 'rest' : 'graphql',
        idempotencyKey: `buyer-${index}`,
      }),
    ),
  )
  const seconds = (performance.now() - beganAt) / 1000
  expect(outcomes.filter(({ status }) => ![200, 409].includes(status))).toEqual([])
  const sold = outcomes.flatMap(({ payment }) => payment ?? [])
  expect(new Set(sold.map(({ id }) => id)).size).toBe(places)
  const refused = outcomes.filter(({ payment }) => !payment)
  expect(refused).toHaveLength(buyers - places)
  expect(new Set(refused.map(({ code, available }) => `${code} ${available}`))).toEqual(
    new Set(['SOLD_OUT 0']),
  )
  // Both surfaces sold.
  for (const odd of [0, 1])
    expect(outcomes.filter(({ payment }, index) => payment && index % 2 === odd).length).toBeGreaterThan(0)

  const paid = await Promise.all(sold.slice(0, 100).map((payment) => pay(service.url, payment)))
  expect(new Set(paid)).toEqual(new Set([200]))
  expect(await readStockTotals(sale, 'rate_1')).toEqual({
    counters: { held: 400, sold: 100 },
    rows: { tickets: places, payments: places, held: 400, sold: 100 },
    payments: places,
  })
  const served = new Set(service.output().match(/"pid":\d+(?=[^\n]*"msg":"request")/g))
  expect(served.size).toBe(processes)
  close()
  console.log(
    `${Math.round(buyers / seconds)} checkouts/s, p50 ${percentile(outcomes, 0.5)} ms, p99 ${percentile(outcomes, 0.99)} ms, until the last answer ${seconds.toFixed(1)} s`,
  )
})
