import { isNotNull, sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { demoCatalogue, posterPath } from '../../../examples/shop/src/demo/catalogue.ts'
import { events } from '../../../src/domain/event/table.ts'
import { type Imported, importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { dumpCatalogue, seedDemo } from '../../support/imports.ts'
import { openSale, type Sale, sharedSale } from '../../support/sale.ts'

const now = new Date('2031-05-17T21:45:00Z')

test('demo catalogue is the same for the same day, and a larger one contains the smaller', () => {
  const demo = demoCatalogue({ events: 40, now })
  expect(demoCatalogue({ events: 40, now: new Date('2031-05-17T03:00:00Z') })).toEqual(demo)
  const larger = demoCatalogue({ events: 300, now })
  expect(larger.events.slice(0, 40)).toEqual(demo.events)
  expect(larger.locations.slice(0, demo.locations.length)).toEqual(demo.locations)
  expect(larger.locations.length).toBeGreaterThan(20)
})

test('demo events lie in the future and have four rates each', () => {
  for (const { start_date, ticket_rates } of demoCatalogue({ events: 500, now }).events) {
    expect(new Date(start_date).getTime()).toBeGreaterThan(now.getTime() + 86_400_000)
    expect(ticket_rates).toHaveLength(4)
  }
})

test('no link of the demo leads to anything but its posters, which the service has', () => {
  const url = 'https://tickets.example'
  const text = JSON.stringify(demoCatalogue({ events: 300, now, url }))
  const links = [...text.matchAll(/"(https?:[^"]*)"/g)].map(([, link]) => link)
  expect(links.length).toBeGreaterThan(300)
  expect(links.filter((link) => !link?.startsWith(`${url}${posterPath}/evt_demo_`))).toEqual([])
})

const sale = sharedSale({
  organizations: demoCatalogue({ events: 0, now }).organizations,
  locations: [],
  events: [],
})
beforeAll(async () => {
  await seedDemo(sale.db, { events: 24 })
})

type Rate = {
  available: boolean
  complete: boolean
  type: string
  valid_from: string | null
  availability: { sold: number; available: number | null }
  show_all_prices: boolean
  prices: { price: number; valid_until: string | null; quantity: number; fee_type: string }[]
  supplements: { has_fake_price: boolean }[]
  questions: { type: string; required: boolean }[]
  min: number | null
  warranty: { enabled: boolean }
}

const ratesOf = async (search = '') => {
  const answer = await sale.rest('GET', `/events?populate=*&limit=100&search=${search}`, {
    headers: sale.channel,
  })
  return answer.json<{ data: { ticket_rates: Rate[] }[] }>().data.flatMap((event) => event.ticket_rates)
}

const isPast = (moment: string | null) => moment !== null && new Date(moment) < new Date()

const kinds: [kind: string, is: (rate: Rate) => boolean][] = [
  ['on sale', (rate) => rate.available],
  ['sold out', (rate) => !rate.available && rate.availability.available === 0],
  ['closed', (rate) => !rate.available && rate.complete],
  ['not yet on sale', (rate) => !rate.available && rate.valid_from !== null && !isPast(rate.valid_from)],
  ['free', (rate) => rate.available && rate.prices[0]?.price === 0],
  [
    'unlimited',
    (rate) => rate.available && rate.type === 'unlimited' && rate.availability.available === null,
  ],
  [
    'with three price steps, the first of them past',
    ({ prices }) => prices.length === 3 && isPast(prices[0]?.valid_until ?? null),
  ],
  ['that shows only the current price', (rate) => !rate.show_all_prices && rate.prices.length === 1],
  ['with a limited quantity of a price', ({ prices }) => prices.some(({ quantity }) => quantity > 0)],
  ['with a fixed fee', ({ prices }) => prices.some((price) => price.fee_type === 'fixed')],
  ['with a former price', ({ supplements }) => supplements.some((supplement) => supplement.has_fake_price)],
  ['with a required question', ({ questions }) => questions.some(({ required }) => required)],
  ['with a question for free text', ({ questions }) => questions.some(({ type }) => type === 'text')],
  ['for groups', (rate) => rate.available && (rate.min ?? 1) > 1],
  ['with a warranty', (rate) => rate.warranty.enabled],
]

test.each(kinds)('demo catalogue has a rate %s', async (_, is) => {
  expect((await ratesOf()).some(is)).toBe(true)
})

test('demo catalogue sells a price step only while fewer than its quantity are sold', async () => {
  const steps = (await ratesOf()).flatMap(({ availability, prices }) =>
    prices.filter(({ quantity }) => quantity > 0).map((price) => ({ ...price, sold: availability.sold })),
  )
  const isOver = (step: (typeof steps)[number]) => step.sold >= step.quantity
  expect(steps.some(isOver)).toBe(true)
  expect(steps.every((step) => isOver(step) || step.sold === 0)).toBe(true)
  expect(steps.filter(isOver).every(({ valid_until }) => isPast(valid_until))).toBe(true)
  expect(steps.every((step) => isOver(step) || step.valid_until === null)).toBe(true)
})

test('demo catalogue has currencies with no, two and three decimals and is found without accents', async () => {
  const { organizations } = demoCatalogue({ events: 1, now })
  const currencies = organizations.map(({ currency }) => currency)
  expect(currencies).toEqual(expect.arrayContaining(['EUR', 'GBP', 'USD', 'JPY', 'KWD']))
  expect(await ratesOf('nandu cumb')).toHaveLength(4)
  expect(await ratesOf('LODZ late')).toHaveLength(4)
})

test('demo catalogue has tables for four, drinks to redeem, discount codes and several languages', async () => {
  const { data } = await sale.graphql<{ events: { nodes: { ticketRates: Offered[] }[] } }>(
    `{ events(first: 24) { nodes { ticketRates { admits transferable supplements { description count } } } } }`,
    {},
    sale.channel,
  )
  const rates = data?.events.nodes.flatMap(({ ticketRates }) => ticketRates) ?? []
  expect(rates.some(({ admits, transferable }) => admits === 4 && !transferable)).toBe(true)
  const supplements = rates.flatMap(({ supplements }) => supplements)
  expect(supplements.some((sold) => sold.count === 2 && sold.description !== null)).toBe(true)
  const { organizations } = demoCatalogue({ events: 1, now })
  const languages = organizations.flatMap((organization) =>
    'language' in organization ? [organization.language] : [],
  )
  expect(languages).toEqual(expect.arrayContaining(['es', 'fr', 'de', 'pt']))
  const codes = organizations.flatMap(({ discounts = [] }) => discounts.map(({ code }) => code))
  expect(codes).toEqual(['VERMUT10', 'AMIGOS'])
})

type Offered = {
  admits: number
  transferable: boolean
  supplements: { description: string | null; count: number }[]
}

const unchanged = ({ changes: _, warnings: __, ...tallies }: Imported) =>
  Object.values(tallies).every(({ added, updated, removed }) => added + updated + removed === 0)

test('seeding the demo twice on one day changes nothing', async () => {
  // One time for both, so that no midnight comes in between.
  const today = { events: 24, now: new Date() }
  await seedDemo(sale.db, today)
  const before = await dumpCatalogue(sale.db)
  expect(await seedDemo(sale.db, today)).toSatisfy(unchanged)
  expect(await dumpCatalogue(sale.db)).toEqual(before)
})

const eventsOf = async (from: Sale) =>
  (await from.rest('GET', '/events?populate=*&limit=100', { headers: from.channel })).json().data

test('events from REST can be imported again, and into an empty database', async () => {
  const events = await eventsOf(sale)
  expect(events).toHaveLength(24)
  // A price missing from the list stays as it is, so the list brings nothing new.
  expect(await importCatalogue(sale.db, { events })).toSatisfy(unchanged)
  expect(await eventsOf(sale)).toEqual(events)
  const { organizations, locations } = demoCatalogue({ events: 24, now })
  const other = await openSale({ organizations, locations, events })
  try {
    expect(await eventsOf(other)).toEqual(events)
  } finally {
    await other.close()
  }
})

test('a demo that is seeded again on another day tells nobody of the dates', async () => {
  await sale.db.update(events).set({ startDate: sql`${events.startDate} - interval '1 day'` })
  await seedDemo(sale.db, { events: 24 })
  expect(await sale.db.$count(events, sql`calendar_sequence > 0`)).toBe(24)
  expect(await sale.db.$count(events, isNotNull(events.movedFrom))).toBe(0)
})
