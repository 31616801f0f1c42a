// Runs in: postgres

import { afterEach, beforeEach, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { stock } from '../../../src/domain/stock/table.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import {
  aLocation,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
  inDays,
  type RateFile,
} from '../../support/factories.ts'
import { dumpCatalogue, importMistakes } from '../../support/imports.ts'
import { cancelTicket } from '../../support/refunds.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// A file that is imported where its objects are already: what it says is written, what is absent stays, null clears.

const [free, dear] = [aPrice({ price: 0, fee_quantity: 0 }), aPrice({ name: 'Dear', quantity: 10 })]
const rate = aRate({ availability: { sold: 3, available: 7 }, prices: [free, dear] })
const event = anEvent({ ticket_rates: [rate] })

let sale: Sale
beforeEach(async () => {
  sale = await openSale({ events: [event] })
})
afterEach(() => sale.close())

const importFile = (json: unknown) => importCatalogue(sale.db, json)
const exported = async (populate = '*') => {
  const answer = await sale.rest('GET', `/events?populate=${populate}`, { headers: sale.channel })
  return { events: answer.json().data }
}
const buy = (...ids: string[]) =>
  mustCheckOut(sale, { ticket_rate_id: rate._id, tickets: ids.map((id) => anEntry(id)) })
const countersOf = async (id = rate._id, mode = 'live') =>
  (await sale.db.select().from(stock)).find((counters) => counters.id === id && counters.mode === mode)
const withRate = (given: Partial<RateFile>) => ({
  events: [{ ...event, ticket_rates: [{ ...rate, ...given }] }],
})
const withAvailability = (availability: RateFile['availability']) => withRate({ availability })

test('an export that is imported after a cancellation makes no sales elsewhere', async () => {
  const { tickets } = await buy(free._id, free._id)
  const file = await exported()
  await cancelTicket(sale, tickets[0]?._id ?? '')
  const before = await dumpCatalogue(sale.db)
  await importFile(file)
  expect(await dumpCatalogue(sale.db)).toEqual(before)
  expect((await exported()).events).toMatchObject([
    { ticket_rates: [{ availability: { sold: 4, available: 6 } }] },
  ])
})

test('an export that is taken while places are held lowers no capacity, and says so', async () => {
  await buy(dear._id, dear._id)
  const file = await exported()
  expect(file.events).toMatchObject([{ ticket_rates: [{ availability: { sold: 3, available: 5 } }] }])
  const before = await dumpCatalogue(sale.db)
  const { warnings } = await importFile(file)
  expect(await dumpCatalogue(sale.db)).toEqual(before)
  expect(warnings).toMatchObject([{ code: 'CAPACITY_STAYS', id: rate._id }])

  const whole = await exported('*,capacity')
  expect(whole.events).toMatchObject([
    { ticket_rates: [{ availability: { sold: 3, available: 5, capacity: 10 } }] },
  ])
  expect(await importFile(whole)).toMatchObject({ warnings: [], stock: { updated: 0 } })
  expect(await dumpCatalogue(sale.db)).toEqual(before)
})

test('what was sold elsewhere, and a capacity, are what a file says, in both directions', async () => {
  await buy(free._id)
  await buy(dear._id, dear._id)
  const here = { organizationId: 'org_1', kind: 'rate', id: rate._id, mode: 'live', sold: 1, held: 2 }
  const countersAfter = async (availability: RateFile['availability']) => {
    await importFile(withAvailability(availability))
    return countersOf()
  }
  const kept = { ...here, capacity: 10, soldBefore: 3 }
  // The documented fields of an answer: they may raise a capacity.
  expect(await countersAfter({ sold: 4, available: 6 })).toEqual(kept)
  expect(await countersAfter({ sold: 9, available: 0 })).toEqual(kept)
  expect(await countersAfter({ sold: 0, available: 50 })).toEqual({ ...kept, capacity: 50 })
  expect(await countersAfter({ capacity: 20, sold: 9, available: 1 })).toEqual({ ...kept, capacity: 20 })
  expect(await countersAfter({ sold_elsewhere: 5 })).toEqual({ ...kept, capacity: 20, soldBefore: 5 })
  expect(await countersAfter({ capacity: 4, sold_elsewhere: 1 })).toEqual({
    ...kept,
    capacity: 4,
    soldBefore: 1,
  })
  expect(await countersAfter({ sold_elsewhere: null })).toEqual({ ...kept, capacity: 4, soldBefore: 0 })
  expect(await countersOf(rate._id, 'test')).toMatchObject({ capacity: 4, soldBefore: 0 })
  expect(await countersAfter({ available: null })).toEqual({ ...kept, capacity: null, soldBefore: 0 })
  expect(await countersAfter({ capacity: 30 })).toEqual({ ...kept, capacity: 30, soldBefore: 0 })
  expect(await countersAfter({ capacity: null })).toEqual({ ...kept, capacity: null, soldBefore: 0 })

  const at = 'events.0.ticket_rates.0'
  const tooFew = (capacity: number, used: number) =>
    `The capacity would be ${capacity}, which is less than the ${used} already sold or held.`
  expect(
    await importMistakes(
      sale.db,
      withRate({ availability: { capacity: 2 }, prices: [free, { ...dear, quantity: 1 }] }),
    ),
  ).toEqual([`${at}.availability.capacity: ${tooFew(2, 3)}`, `${at}.prices.1.quantity: ${tooFew(1, 2)}`])
  expect(await importMistakes(sale.db, withAvailability({ sold: 0, available: 2 }))).toEqual([
    `${at}.availability.available: ${tooFew(2, 3)}`,
  ])
})

test('a file that says one thing changes that alone, and null clears the rest', async () => {
  const whole = {
    ...rate,
    slug: 'door',
    valid_from: inDays(-1),
    complete: true,
    min: 2,
    max: 4,
    admits: 3,
    transferable: false,
    show_all_prices: true,
    warranty: { enabled: true, percentage: 5, hours: 12 },
    prices: [
      {
        ...dear,
        valid_until: inDays(9),
        includes: 'A drink',
        additional_info: 'Cold',
        fee_type: 'fixed' as const,
        fee_quantity: 1.5,
      },
    ],
    supplements: [
      aSupplement({ description: 'Red', product_quantity: 2, has_fake_price: true, fake_price: 9 }),
    ],
    questions: [aQuestion({ required: true })],
  }
  const full = {
    ...event,
    slug: 'noche',
    description: 'Long',
    age: '18',
    outfit: 'Black',
    ambiences: ['dancing'],
    music_genres: ['cumbia'],
    artists: [{ name: 'Ñ', image_url: 'https://pictures.example/n.png' }],
    display_date: inDays(29),
    image_url: 'https://pictures.example/e.png',
    iframe: { tag_url: 'https://pictures.example/tag', script_url: null },
    ticket_rates: [whole],
  }
  const place = aLocation({ address: 'Calle 1' })
  const discount = {
    _id: 'dsc_1',
    code: 'TEN',
    name: 'Ten',
    percentage: 10,
    quantity: 5,
    max_per_checkout: 2,
  }
  const seller = anOrganization({ slug: 'sala', language: 'es', discounts: [discount] })
  await importFile({ organizations: [seller], locations: [place], events: [full] })
  const before = await dumpCatalogue(sale.db)

  const required = {
    organizations: [
      {
        _id: 'org_1',
        name: seller.name,
        currency: 'EUR',
        discounts: [{ _id: 'dsc_1', code: 'TEN', percentage: 10 }],
      },
    ],
    locations: [{ _id: 'loc_1', organization_id: 'org_1', name: place.name }],
    events: [
      {
        ...{ _id: event._id, name: event.name, organization_id: 'org_1' },
        ...{ start_date: event.start_date, end_date: event.end_date },
        ticket_rates: [
          {
            ...{ _id: rate._id, name: rate.name },
            prices: [{ _id: dear._id, price: 20 }],
            supplements: whole.supplements.map(({ _id, label, price }) => ({ _id, label, price })),
            questions: whole.questions.map(({ _id, label }) => ({ _id, label })),
          },
        ],
      },
    ],
  }
  const again = await importFile(required)
  expect(await dumpCatalogue(sale.db)).toEqual(before)
  expect(again.warnings).toEqual([])
  const [first] = required.events[0]?.ticket_rates ?? []
  if (!first) throw new Error('the file has a rate')
  const priced = {
    events: [{ ...required.events[0], ticket_rates: [{ ...first, prices: [{ _id: dear._id, price: 25 }] }] }],
  }
  expect(await importFile(priced)).toMatchObject({
    prices: { updated: 1 },
    events: { updated: 0 },
    ticketRates: { updated: 0 },
    stock: { updated: 0 },
  })
  const fields = {
    availability: null,
    min: null,
    max: null,
    complete: null,
    warranty: null,
    valid_from: null,
  }
  const cleared = {
    events: [
      {
        ...required.events[0],
        location_id: null,
        age: null,
        artists: null,
        iframe: null,
        ticket_rates: [{ ...first, ...fields }],
      },
    ],
  }
  const { warnings } = await importFile(cleared)
  expect((await exported()).events).toMatchObject([
    {
      ...{ location_id: null, age: null, artists: [], iframe: null, outfit: 'Black' },
      ticket_rates: [
        {
          ...{ type: 'unlimited', min: null, max: null, complete: false, valid_from: null, slug: 'door' },
          warranty: { enabled: false, percentage: 0, hours: 0 },
          prices: [{ fee_type: 'fixed', fee_quantity: 1.5, quantity: 10 }],
        },
      ],
    },
  ])
  expect(warnings.map(({ code }) => code).sort()).toEqual(['BECOMES_UNLIMITED', 'LIMIT_LIFTED', 'REOPENS'])
})

test('what a file says must agree with what stays', async () => {
  await importFile(withRate({ max: 3, prices: [{ ...dear, fee_type: 'fixed', fee_quantity: 1 }] }))
  const bare = { ...rate, prices: undefined }
  const at = 'events.0.ticket_rates.0'
  const mistakesOf = (given: object) =>
    importMistakes(sale.db, { events: [{ ...event, ticket_rates: [{ ...bare, ...given }] }] })
  expect(await mistakesOf({ min: 5 })).toEqual([`${at}.max: max must be at least min.`])
  expect(await mistakesOf({ availability: undefined, type: 'unlimited' })).toEqual([
    `${at}.type: type must be limited, as the capacity of the rate says.`,
  ])
  for (const fee of [{ fee_quantity: 5 }, { fee_type: 'percentage' }])
    expect(await mistakesOf({ prices: [{ _id: dear._id, price: 20, ...fee }] })).toEqual([
      `${at}.prices.0.fee_quantity: fee_quantity must be given where fee_type is, and only there.`,
    ])
})

test('a plan names what would change, warns by name, and changes nothing', async () => {
  await buy(free._id)
  const before = await dumpCatalogue(sale.db)
  const file = {
    events: [
      {
        ...event,
        start_date: inDays(31),
        end_date: inDays(32),
        ticket_rates: [{ ...rate, availability: null, prices: [{ ...dear, price: 25 }] }],
      },
      anEvent({ _id: 'evt_new', ticket_rates: [] }),
    ],
  }
  const { changes, warnings } = await importCatalogue(sale.db, file, { plan: true })
  expect(await dumpCatalogue(sale.db)).toEqual(before)
  expect(changes).toContainEqual({
    action: 'ADD',
    kind: 'event',
    id: 'evt_new',
    name: 'noche-de-nandu',
    fields: [],
  })
  expect(changes).toContainEqual(
    expect.objectContaining({
      ...{ action: 'CHANGE', kind: 'price', id: dear._id },
      fields: expect.arrayContaining([{ field: 'amount', from: 20, to: 25 }]),
    }),
  )
  expect(changes).toContainEqual({
    action: 'REMOVE',
    kind: 'price',
    id: free._id,
    name: 'General',
    fields: [],
  })
  expect(warnings.map(({ code, id }) => `${code} ${id}`)).toEqual([
    ...[`DATE_MOVES ${event._id}`, `DATE_MOVES ${event._id}`],
    `REMOVES_SOLD ${free._id}`,
    `BECOMES_UNLIMITED ${rate._id}`,
  ])
  // The control: the same file imported does all of it.
  const imported = await importFile(file)
  expect(imported.warnings.map(({ code }) => code)).toEqual(warnings.map(({ code }) => code))
  expect(imported.events).toEqual({ added: 1, updated: 1, unchanged: 0, removed: 0 })
})
