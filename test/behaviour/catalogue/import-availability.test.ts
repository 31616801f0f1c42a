// Runs in: postgres, slow-forms

import { asc, eq } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Mode } from '../../../src/domain/caller/mode.ts'
import { changes, webhookDeliveries } from '../../../src/domain/change/table.ts'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { readChanges } from '../../support/change-feed.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  channelHeaders,
} from '../../support/factories.ts'
import { importMistakes } from '../../support/imports.ts'
import { subscribe } from '../../support/live.ts'
import { inTestMode } from '../../support/modes.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// A file that gives a rate other places: feed, webhooks and streams tell of a rate that is sold out by it, or available again,
// as they do after a sale or a release.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue(), { listen: true })
})
afterAll(() => sale.close())

// A free rate with two places, in an event of its own for each test.
const aFreeRate = () => aRate({ prices: [aPrice({ price: 0, fee_quantity: 0 })] })
let event: ReturnType<typeof anEvent>
let rate: ReturnType<typeof aFreeRate>
beforeEach(async () => {
  event = anEvent()
  rate = aFreeRate()
  await importCatalogue(sale.db, withPlaces(2))
})

const withPlaces = (capacity: number) => ({
  events: [{ ...event, ticket_rates: [{ ...rate, availability: { capacity } }] }],
})
const buy = (seller: Sale, count: number, { _id, prices } = rate) =>
  mustCheckOut(seller, {
    ticket_rate_id: _id,
    tickets: Array.from({ length: count }, () => anEntry(prices?.[0]?._id ?? '')),
  })
const typesIn = async (gateway: Sale, headers: Record<string, string>) =>
  (await readChanges(gateway, headers)).nodes
    .filter(({ subjectId }) => subjectId === rate._id)
    .map(({ type }) => type)

/** Types of the changes of a rate in each mode, in their order. */
async function typesOfRate(id: string) {
  const { type, mode, sequence } = changes
  const found = await sale.db
    .select({ type, mode, sequence })
    .from(changes)
    .where(eq(changes.subjectId, id))
    .orderBy(asc(sequence))
  const typesOf = (mode: Mode) => found.filter((change) => change.mode === mode).map(({ type }) => type)
  return { live: typesOf('live'), test: typesOf('test') }
}

test('a sold-out rate that an import gives more places is available: feed, webhooks and streams tell it', async () => {
  await buy(sale, 2)
  const hooks = await Promise.all(
    [sale.channel, sale.integration.v2, await channelHeaders(sale.db)].map(async (headers) => {
      const own = webhooksOf(sale, headers)
      return { own, id: (await own.register('https://receiver.example/hook')).id }
    }),
  )
  type Changed = { changes: { node: { type: string } } }
  const query = 'subscription { changes(from: { at: NOW }) { node { type } } }'
  const watched = subscribe<Changed>(sale.url, sale.channel, { query })
  await watched.opened()

  await importCatalogue(sale.db, withPlaces(3))
  // A read leaves it to another one that is giving positions, here to that of the stream.
  for (const headers of [sale.channel, sale.integration.v2])
    await expect.poll(() => typesIn(sale, headers)).toEqual(['RATE_SOLD_OUT', 'RATE_AVAILABLE'])
  await watched.until(({ changes: { node } }) => node.type === 'RATE_AVAILABLE')
  for (const { own, id } of hooks)
    expect((await own.deliveries(id))?.nodes.map(({ change }) => change.type)).toEqual(['RATE_AVAILABLE'])
})

test('each mode hears of its own places, and a plan or a refused file tells nobody', async () => {
  const testing = await inTestMode(sale)
  await buy(testing, 2)
  await importCatalogue(sale.db, withPlaces(4), { plan: true })
  expect(await importMistakes(sale.db, { ...withPlaces(4), places: [] })).toHaveLength(1)
  expect(await typesIn(testing, testing.channel)).toEqual(['RATE_SOLD_OUT'])
  await importCatalogue(sale.db, withPlaces(4))
  expect(await typesIn(testing, testing.channel)).toEqual(['RATE_SOLD_OUT', 'RATE_AVAILABLE'])
  expect(await typesIn(sale, sale.channel)).toEqual([])
})

test('every rate of a file is told once, whatever number and organization', async () => {
  const count = 520
  const organization_id = 'org_2'
  const events = (capacity: number) => [
    { ...event, ticket_rates: [{ ...rate, availability: { capacity } }] },
    anEvent({
      _id: 'evt_many',
      organization_id,
      location_id: undefined,
      ticket_rates: Array.from({ length: count }, (_, index) =>
        aRate({ _id: `rate_many_${index}`, prices: [], availability: { capacity } }),
      ),
    }),
  ]
  const organizations = [anOrganization({ _id: organization_id })]
  await importCatalogue(sale.db, { organizations, events: events(0) })
  const { id } = await webhooksOf(sale, sale.channel).register('https://receiver.example/hook')
  await importCatalogue(sale.db, { events: events(3) })
  expect(await typesOfRate(rate._id)).toEqual({
    live: ['rate.sold_out', 'rate.available'],
    test: ['rate.sold_out', 'rate.available'],
  })
  const told = (await sale.db.select().from(changes)).filter(
    ({ organizationId }) => organizationId === organization_id,
  )
  for (const mode of ['live', 'test'] as const) {
    const ofMode = told.filter((change) => change.mode === mode)
    expect(ofMode.map(({ type }) => type)).toEqual(Array(count).fill('rate.available'))
    expect(new Set(ofMode.map(({ subjectId }) => subjectId)).size).toBe(count)
  }
  // The channel has no grant of the second organization.
  expect(await sale.db.$count(webhookDeliveries, eq(webhookDeliveries.webhookId, id))).toBe(1)
})

const aStep = fc.oneof(
  fc.record({
    buy: fc.constantFrom('live' as const, 'test' as const),
    count: fc.integer({ min: 1, max: 2 }),
  }),
  fc.record({
    capacity: fc.option(fc.nat(4), { freq: 5 }),
    sold_elsewhere: fc.option(fc.nat(2), { nil: undefined }),
  }),
)

test('whatever is sold and imported in turn, a change is told whenever a rate has used up its places, or has some again', async () => {
  const sellers = { live: sale, test: await inTestMode(sale) }
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 4, maxLength: 8 }), async (steps) => {
      const [own, ownEvent] = [aFreeRate(), anEvent()]
      const file = (availability: object) => ({
        events: [{ ...ownEvent, ticket_rates: [{ ...own, availability }] }],
      })
      await importCatalogue(sale.db, file({ capacity: 2 }))
      const modes = ['live', 'test'] as const
      const stock = {
        live: { sold: 0, capacity: 2 as number | null },
        test: { sold: 0, capacity: 2 as number | null },
      }
      let soldBefore = 0
      const leftIn = (mode: 'live' | 'test') =>
        (stock[mode].capacity ?? Number.POSITIVE_INFINITY) - soldBefore - stock[mode].sold
      const told = { live: [] as string[], test: [] as string[] }
      for (const step of steps) {
        const before = { live: leftIn('live'), test: leftIn('test') }
        if ('buy' in step) {
          if (leftIn(step.buy) < step.count) continue
          await buy(sellers[step.buy], step.count, own)
          stock[step.buy].sold += step.count
        } else {
          const elsewhere = step.sold_elsewhere ?? soldBefore
          const isRefused = step.capacity !== null && step.capacity < elsewhere + stock.live.sold
          const importing = importCatalogue(sale.db, file(step))
          if (isRefused) {
            await expect(importing).rejects.toThrow()
            continue
          }
          await importing
          if (stock.live.capacity === step.capacity && soldBefore === elsewhere) continue
          soldBefore = elsewhere
          stock.live.capacity = step.capacity
          stock.test.capacity =
            step.capacity === null ? null : Math.max(step.capacity, elsewhere + stock.test.sold)
        }
        for (const mode of modes)
          if ((leftIn(mode) === 0) !== (before[mode] === 0))
            told[mode].push(leftIn(mode) === 0 ? 'rate.sold_out' : 'rate.available')
      }
      expect(await typesOfRate(own._id)).toEqual(told)
    }),
    { numRuns: 8 },
  )
})
