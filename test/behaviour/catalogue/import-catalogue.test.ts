// Runs in: pglite, postgres

import { asc } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { prices } from '../../../src/domain/ticket-rate/table.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
  inDays,
} from '../../support/factories.ts'
import { dumpCatalogue, importMistakes } from '../../support/imports.ts'
import { openSale, type Sale } from '../../support/sale.ts'

let sale: Sale
beforeEach(async () => {
  sale = await openSale({ events: [] })
})
afterEach(() => sale.close())

const importFile = (json: unknown) => importCatalogue(sale.db, json)

const dump = () => dumpCatalogue(sale.db)
const mistakesIn = (json: unknown) => importMistakes(sale.db, json)

const ratesOf = async () => {
  const answer = await sale.rest('GET', '/events?populate=*', { headers: sale.channel })
  type Typed = { type: string }
  type Rate = Typed & { _id: string; prices: { _id: string }[]; supplements: unknown[]; questions: Typed[] }
  return answer.json<{ data: { ticket_rates: Rate[] }[] }>().data.flatMap((event) => event.ticket_rates)
}

test('import keeps the ids of the file and recognizes rows without an id', async () => {
  const nameless = {
    organization_id: 'org_1',
    name: 'Ópera en la Plaza',
    start_date: '2099-07-01',
    end_date: '2099-07-02T01:00:00+02:00',
    ticket_rates: [
      {
        name: 'Silla',
        prices: [{ price: 30 }, { name: 'Tarde', price: 35 }],
        supplements: [{ label: 'Cojín', price: 1.5 }],
        questions: [{ label: '¿Alergias?' }],
      },
    ],
  }
  const file = aCatalogue({ events: [anEvent({ _id: '507f1f77bcf86cd799439011' }), nameless] })
  await importFile(file)
  const first = await dump()
  expect(first.events).toMatchObject([
    { id: '507f1f77bcf86cd799439011' },
    {
      id: expect.stringMatching(/^evt_[0-9a-f]{26}$/),
      slug: 'opera-en-la-plaza',
      startDate: new Date('2099-07-01'),
      endDate: new Date('2099-07-01T23:00:00Z'),
    },
  ])
  expect(first.prices).toContainEqual(
    expect.objectContaining({ name: 'Silla', amount: 3000, currency: 'EUR' }),
  )
  expect(first.questions).toMatchObject([{ type: 'text', required: false }])
  await importFile(file)
  expect(await dump()).toEqual(first)
})

test('import derives the types of rates and questions, and takes the documented ones', async () => {
  const limited = aRate({ name: 'Limited', availability: { sold: 0, available: 0 } })
  const unlimited = aRate({
    name: 'Unlimited',
    availability: null,
    questions: [
      ...[{ label: 'Size?', items: ['S'] }, { label: 'Diet?' }],
      ...['dropdown', 'text', 'checkbox'].map((type) =>
        aQuestion({ type, label: type, items: type === 'dropdown' ? ['S'] : [] }),
      ),
    ],
  })
  const event = anEvent({ ticket_rates: [limited, unlimited] })
  await importFile(aCatalogue({ events: [event] }))
  const rates = await ratesOf()
  expect(rates.map(({ type }) => type)).toEqual(['limited', 'unlimited'])
  expect(rates[1]?.questions.map(({ type }) => type)).toEqual([
    ...['dropdown', 'text', 'dropdown', 'text', 'checkbox'],
  ])
  const typed = [
    { ...limited, type: 'limited', availability: { sold: 0, available: 5 } },
    { ...unlimited, type: 'unlimited' },
  ]
  await importFile({ events: [{ ...event, ticket_rates: typed }] })
  await importFile({
    events: [{ ...event, ticket_rates: [{ ...limited, availability: null }, unlimited] }],
  })
  expect((await ratesOf()).map(({ type }) => type)).toEqual(['unlimited', 'unlimited'])
})

test('import updates names, times, texts and order', async () => {
  const [one, two] = [aRate({ name: 'One' }), aRate({ name: 'Two' })]
  const event = anEvent({ ticket_rates: [one, two] })
  await importFile(aCatalogue({ events: [event] }))
  const summary = await importFile({
    events: [{ ...event, name: 'Otra Noche', age: '18', ticket_rates: [two, { ...one, complete: true }] }],
  })
  expect(summary.events).toEqual({ added: 0, updated: 1, unchanged: 0, removed: 0 })
  expect(summary.ticketRates).toEqual({ added: 0, updated: 2, unchanged: 0, removed: 0 })
  const found = await sale.rest('GET', '/events?populate=*&search=otra', { headers: sale.channel })
  expect(found.json().data).toMatchObject([
    { age: '18', ticket_rates: [{ name: 'Two' }, { name: 'One', complete: true }] },
  ])
})

test('import keeps rates when the list is missing and takes unlisted ones off sale', async () => {
  const rate = aRate({
    prices: [aPrice({ name: 'A' }), aPrice({ name: 'B' })],
    supplements: [aSupplement()],
    questions: [aQuestion()],
  })
  const event = anEvent({ ticket_rates: [rate, aRate()] })
  await importFile({ events: [event] })
  await importFile({ events: [{ ...event, ticket_rates: undefined }] })
  expect(await ratesOf()).toHaveLength(2)

  const [price] = rate.prices ?? []
  const shorter = { ...event, ticket_rates: [{ ...rate, prices: [price], supplements: [], questions: [] }] }
  const summary = await importFile({ events: [shorter] })
  expect(summary).toMatchObject({
    ticketRates: { removed: 1 },
    prices: { removed: 1 },
    supplements: { removed: 1 },
    questions: { removed: 1 },
  })
  expect(await ratesOf()).toMatchObject([
    { _id: rate._id, prices: [{ _id: price?._id }], supplements: [], questions: [] },
  ])
  expect((await dump()).ticketRates).toHaveLength(2)

  await importFile({ events: [event] })
  const [first, second] = await ratesOf()
  expect([first?.prices.length, first?.supplements.length, first?.questions.length]).toEqual([2, 1, 1])
  expect(second).toBeDefined()
})

test('import of a rate that shows only its current price keeps the other prices and their order', async () => {
  const [past, now, later] = [
    aPrice({ name: 'Past', valid_until: inDays(-1) }),
    aPrice({ name: 'Now', valid_until: inDays(1) }),
    aPrice({ name: 'Later' }),
  ]
  const rate = aRate({ show_all_prices: false, prices: [past, now, later] })
  const event = anEvent({ ticket_rates: [rate] })
  await importFile({ events: [event] })
  const positions = async () => {
    const rows = await sale.db.select().from(prices).orderBy(asc(prices.position))
    return rows.flatMap(({ name, removed }) => (removed ? [] : name))
  }
  const summary = await importFile({ events: [{ ...event, ticket_rates: [{ ...rate, prices: [now] }] }] })
  expect(summary.prices).toEqual({ added: 0, updated: 0, unchanged: 1, removed: 0 })
  const added = aPrice({ name: 'Added' })
  await importFile({ events: [{ ...event, ticket_rates: [{ ...rate, prices: [added, now] }] }] })
  expect(await positions()).toEqual(['Past', 'Now', 'Later', 'Added'])
  const reordered = { ...rate, prices: [added, later, now, past] }
  await importFile({ events: [{ ...event, ticket_rates: [reordered] }] })
  expect(await positions()).toEqual(['Added', 'Later', 'Now', 'Past'])
})

test('import refuses an id that another row has', async () => {
  const [mine, other] = [
    aRate({
      _id: 'mine',
      supplements: [aSupplement({ _id: 'drink' })],
      questions: [aQuestion({ _id: 'why' })],
    }),
    aRate({ _id: 'other', prices: [aPrice({ _id: 'dear' })] }),
  ]
  await importFile({ events: [anEvent({ _id: 'evt_1', ticket_rates: [mine, other] })] })
  const taken = aRate({
    _id: 'dear',
    prices: [aPrice({ _id: 'other' })],
    supplements: [aSupplement({ _id: 'drink' })],
    questions: [aQuestion({ _id: 'why' })],
  })
  const file = {
    organizations: [anOrganization({ _id: 'org_2' })],
    events: [
      anEvent({ _id: 'evt_1', organization_id: 'org_2', ticket_rates: null }),
      anEvent({ _id: 'evt_2', ticket_rates: [taken, aRate({ _id: 'mine' })] }),
    ],
  }
  const at = 'events.1.ticket_rates'
  expect(await mistakesIn(file)).toEqual([
    'events.0._id: The identifier evt_1 is taken: identifiers are unique in the whole service.',
    `${at}.0._id: The identifier dear is taken: identifiers are unique in the whole service.`,
    `${at}.1._id: The identifier mine is taken: identifiers are unique in the whole service.`,
    `${at}.0.prices.0._id: The identifier other is taken: identifiers are unique in the whole service.`,
    `${at}.0.supplements.0._id: The identifier drink is taken: identifiers are unique in the whole service.`,
    `${at}.0.questions.0._id: The identifier why is taken: identifiers are unique in the whole service.`,
  ])
})

test('import takes a min or max of 0 as no limit', async () => {
  await importFile(aCatalogue({ events: [anEvent({ ticket_rates: [aRate({ min: 0, max: 0 })] })] }))
  const answer = await sale.rest('GET', '/events?populate=*', { headers: sale.channel })
  expect(answer.json().data[0].ticket_rates).toMatchObject([{ min: null, max: null, available: true }])
})
