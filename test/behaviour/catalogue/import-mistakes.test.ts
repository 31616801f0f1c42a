// Runs in: postgres

import { expect, test } from 'vitest'
import { catalogueJsonSchema } from '../../../src/domain/import/catalogue-file.ts'
import { organizations } from '../../../src/domain/organization/table.ts'
import {
  aLocation,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
} from '../../support/factories.ts'
import { importMistakes } from '../../support/imports.ts'
import { sharedSale } from '../../support/sale.ts'

// Errors of a bad import file, as `path: message`.

const sale = sharedSale({ events: [anEvent()] })

const event = (given: object) => ({ events: [{ ...anEvent({ _id: 'evt_1' }), ...given }] })
const rate = (given: object) => event({ ticket_rates: [{ ...aRate(), ...given }] })
const price = (given: object) => rate({ prices: [{ ...aPrice(), ...given }] })

const required = 'This field is required.'
const ofRate = 'events.0.ticket_rates.0'
const ofPrice = `${ofRate}.prices.0`

const mistaken = 'type must be limited where `availability` gives a number, else unlimited.'

type Mistake = [what: string, file: unknown, mistakes: string[]]
const files: Mistake[] = [
  ['a file that is not an object', [1], [': Invalid input: expected object, received array.']],
  ['an empty file', {}, [': The value must hold organizations, locations or events.']],
  ['an unknown list', { events: [], tickets: [] }, ['tickets: There is no such field.']],
  ['an object instead of a list', { events: {} }, ['events: events must be a list.']],
  ['a number in a list', { events: [7] }, ['events.0: Invalid input: expected object, received number.']],
  [
    'an empty organization',
    { organizations: [{}] },
    [
      `organizations.0._id: ${required}`,
      `organizations.0.name: ${required}`,
      `organizations.0.currency: ${required}`,
    ],
  ],
  [
    'an unknown currency',
    { organizations: [anOrganization({ _id: 'org_2', currency: 'EURO' })] },
    ['organizations.0.currency: currency must be an ISO 4217 currency code such as EUR.'],
  ],
  [
    'a changed currency',
    { organizations: [anOrganization({ currency: 'USD' })] },
    ['organizations.0.currency: currency must stay EUR: the currency of an organization cannot change.'],
  ],
  [
    'a commission over 100 percent',
    { organizations: [anOrganization({ platform_fee_percentage: 100.5 })] },
    ['organizations.0.platform_fee_percentage: platform_fee_percentage must be at most 100.'],
  ],
  [
    'a commission with five decimals',
    { organizations: [anOrganization({ platform_fee_percentage: 1.00001 })] },
    ['organizations.0.platform_fee_percentage: platform_fee_percentage must have at most four decimals.'],
  ],
  [
    'an unknown time zone',
    { locations: [aLocation({ timezone: 'Europe/Atlantis' })] },
    ['locations.0.timezone: timezone must be an IANA time zone such as Europe/Madrid.'],
  ],
  [
    'an offset as time zone',
    { locations: [aLocation({ timezone: '+01:00' })] },
    ['locations.0.timezone: timezone must be an IANA time zone such as Europe/Madrid.'],
  ],
  ...['BST', 'IST', 'PST', 'JST', 'AET', 'SST', 'VST', 'EST', 'SystemV/AST4', 'europe/madrid'].map(
    (timezone): Mistake => [
      `the time zone ${timezone}`,
      { locations: [aLocation({ timezone })] },
      ['locations.0.timezone: timezone must be an IANA time zone such as Europe/Madrid.'],
    ],
  ),
  [
    'an unknown country',
    { locations: [aLocation({ country_code: 'XX' })] },
    ['locations.0.country_code: country_code must be a two-letter ISO 3166 country code.'],
  ],
  [
    'a latitude without a longitude',
    { locations: [aLocation({ longitude: null })] },
    ['locations.0.longitude: longitude must be given where latitude is, and only there.'],
  ],
  [
    'a latitude off the globe',
    { locations: [aLocation({ latitude: 91 })] },
    ['locations.0.latitude: latitude must be at most 90.'],
  ],
  [
    'a location of an unknown organization',
    { locations: [aLocation({ _id: 'loc_2', organization_id: 'org_9' })] },
    ['locations.0.organization_id: There is no organization org_9, in the file or in the database.'],
  ],
  ['an unknown field', event({ colour: 'red' }), ['events.0.colour: There is no such field.']],
  [
    'a missing and a malformed date',
    event({ start_date: undefined, end_date: 'soon' }),
    [
      `events.0.start_date: ${required}`,
      'events.0.end_date: end_date must be an ISO 8601 date or timestamp.',
    ],
  ],
  [
    'a day not in the calendar',
    event({ end_date: '2099-02-30' }),
    ['events.0.end_date: end_date must be an ISO 8601 date or timestamp.'],
  ],
  [
    'an end before the start',
    event({ start_date: '2099-01-02', end_date: '2099-01-01' }),
    ['events.0.end_date: end_date must not be before start_date.'],
  ],
  [
    'an unknown organization and location',
    event({ organization_id: 'org_9', location_id: 'loc_9' }),
    [
      'events.0.organization_id: There is no organization org_9, in the file or in the database.',
      'events.0.location_id: There is no location loc_9, in the file or in the database.',
    ],
  ],
  [
    'an organization as location',
    { organizations: [anOrganization()], ...event({ location_id: 'org_1' }) },
    ['events.0.location_id: There is no location org_1, in the file or in the database.'],
  ],
  [
    'a URL that is not http',
    event({ image_url: 'javascript:alert(1)' }),
    ['events.0.image_url: image_url must be an http(s) address.'],
  ],
  ...['Noche\u0000', 'Noche\nlibre', 'No\u200bche', '\u202eehcoN'].map(
    (name): Mistake => [
      `the name ${JSON.stringify(name)}`,
      event({ name }),
      ['events.0.name: name must be one line of printable text, without invisible characters.'],
    ],
  ),
  [
    'an unprintable description',
    event({ description: 'Noche\u0000' }),
    ['events.0.description: description must be printable text.'],
  ],
  ['a malformed id', event({ _id: 'a b' }), ['events.0._id: _id must be an identifier.']],
  [
    'a rate of another event',
    rate({ event_id: 'evt_9', organization_id: 'org_9' }),
    [
      `${ofRate}.event_id: event_id must be evt_1, the event that contains the rate.`,
      `${ofRate}.organization_id: organization_id must be org_1, the organization of the event.`,
    ],
  ],
  ['a minimum above the maximum', rate({ min: 3, max: 2 }), [`${ofRate}.max: max must be at least min.`]],
  [
    'more tickets than a checkout may have as the minimum',
    rate({ min: 51 }),
    [`${ofRate}.min: min must be at most 50, as many as a checkout takes.`],
  ],
  [
    'a warranty of centuries',
    rate({ warranty: { enabled: true, hours: 60_000_000 } }),
    [`${ofRate}.warranty.hours: hours must be at most 87600.`],
  ],
  [
    'a minimum age of three digits',
    event({ minimum_age: 100 }),
    ['events.0.minimum_age: minimum_age must be at most 99.'],
  ],
  ['a negative minimum', rate({ min: -1 }), [`${ofRate}.min: min must be at least 0.`]],
  [
    'half a place available',
    rate({ availability: { sold: 1, available: 1.5 } }),
    [`${ofRate}.availability.available: available must be a whole number.`],
  ],
  [
    'a capacity over the integer range',
    rate({ availability: { sold: 2_000_000_000, available: 2_000_000_000 } }),
    [`${ofRate}.availability.available: available must be at most 2147483647 together with sold.`],
  ],
  [
    'a price with three decimals',
    price({ price: 1.005 }),
    [`${ofPrice}.price: price must have at most 2 decimals, as EUR has.`],
  ],
  ['a negative price', price({ price: -1 }), [`${ofPrice}.price: price must be at least 0.`]],
  [
    'a price as text',
    price({ price: '20' }),
    [`${ofPrice}.price: Invalid input: expected number, received string.`],
  ],
  [
    'a price over the maximum',
    price({ price: 1e9 }),
    [`${ofPrice}.price: price must be at most 10000000000 minor units.`],
  ],
  [
    'a fee over 100 percent',
    price({ fee_quantity: 101 }),
    [
      `${ofPrice}.fee_quantity: fee_quantity must be a percentage of at most 100, with at most four decimals.`,
    ],
  ],
  [
    'a fixed fee with three decimals',
    price({ fee_type: 'fixed', fee_quantity: 0.001 }),
    [`${ofPrice}.fee_quantity: fee_quantity must have at most 2 decimals, as EUR has.`],
  ],
  [
    'a supplement without a price',
    rate({ supplements: [{ label: 'Drink' }] }),
    [`${ofRate}.supplements.0.price: ${required}`],
  ],
  [
    'a former price with three decimals',
    rate({ supplements: [aSupplement({ fake_price: 0.001 })] }),
    [`${ofRate}.supplements.0.fake_price: fake_price must have at most 2 decimals, as EUR has.`],
  ],
  [
    'a dropdown without choices',
    rate({ questions: [aQuestion({ items: [] })] }),
    [`${ofRate}.questions.0.items: items must hold at least one choice of a dropdown.`],
  ],
  [
    'a checkbox and a text with choices',
    rate({ questions: ['checkbox', 'text'].map((type) => aQuestion({ type })) }),
    [0, 1].map(
      (index) => `${ofRate}.questions.${index}.items: items must be empty: only a dropdown has choices.`,
    ),
  ],
  [
    'a choice that is neither text nor has an id and a label',
    rate({ questions: [aQuestion({ items: [{ label: 'S' } as never] })] }),
    [`${ofRate}.questions.0.items.0: items must be texts, or objects with an id and a label.`],
  ],
  [
    'a choice twice',
    rate({ questions: [aQuestion({ items: ['S', 'M', { id: 'S', label: 'L' }] })] }),
    [`${ofRate}.questions.0.items: items must be different choices.`],
  ],
  [
    'a question of an unknown type',
    rate({ questions: [aQuestion({ type: 'radio' })] }),
    [`${ofRate}.questions.0.type: type must be dropdown, text or checkbox.`],
  ],
  [
    'a rate of an unknown type',
    rate({ type: 'vip' }),
    [`${ofRate}.type: type must be limited or unlimited.`],
  ],
  [
    'a limited rate without a capacity',
    rate({ type: 'limited', availability: { sold: 1, available: null } }),
    [`${ofRate}.type: ${mistaken}`],
  ],
  ['an unlimited rate with a capacity', rate({ type: 'unlimited' }), [`${ofRate}.type: ${mistaken}`]],
  [
    'two questions of one name',
    rate({ questions: [{ label: 'Why?' }, { label: 'Why?' }] }),
    [
      `${ofRate}.questions.1._id: This has the same name as ${ofRate}.questions.0: give it an _id of its own.`,
    ],
  ],
  [
    'two events of one id',
    { events: [anEvent({ _id: 'evt_2' }), anEvent({ _id: 'evt_2' })] },
    ['events.1._id: The identifier evt_2 is also that of events.0.'],
  ],
  [
    'a price with the id of a rate',
    rate({ _id: 'same', prices: [aPrice({ _id: 'same' })] }),
    [`${ofPrice}._id: The identifier same is also that of ${ofRate}.`],
  ],
]

test.each(files)('import refuses %s, naming its path', async (_, file, mistakes) => {
  expect(await importMistakes(sale.db, file)).toEqual(mistakes)
})

test('what needs the rest of the file is checked once an object is well-formed', async () => {
  const far = { location_id: 'loc_9', ticket_rates: [aRate({ _id: 'rate_far', prices: [] })] }
  const organization = anOrganization({
    discounts: [{ code: 'ALL', percentage: 5, ticket_rate_ids: ['rate_far'] }],
  })
  const file = (start_date: unknown) => ({
    organizations: [organization],
    events: [{ ...anEvent(far), start_date }],
  })
  expect(await importMistakes(sale.db, file(5))).toEqual([
    'events.0.start_date: Invalid input: expected string, received number.',
  ])
  expect(await importMistakes(sale.db, file(anEvent().start_date))).toEqual([
    'events.0.location_id: There is no location loc_9, in the file or in the database.',
  ])
})

test('import refuses an organization whose amounts are stored with other decimals', async () => {
  const stored = async () => (await sale.db.select().from(organizations)).map(({ decimals }) => decimals)
  expect(await stored()).toEqual([2])
  await sale.db.update(organizations).set({ decimals: 0 })
  expect(await importMistakes(sale.db, { organizations: [anOrganization()] })).toEqual([
    'organizations.0.currency: EUR has 2 decimals, and amounts of this organization are stored with 0.',
  ])
  expect(await stored()).toEqual([0])
})

test('import reports every error at once', async () => {
  const file = {
    organizations: [anOrganization({ currency: 'USD' }), { _id: 'org_2', name: 'New', currency: 'yen' }],
    locations: [aLocation({ timezone: 'Nowhere' })],
    events: [
      {
        organization_id: 'org_2',
        start_date: '2099-01-02',
        end_date: '2099-01-01',
        ticket_rates: [{ prices: [{ price: 'much' }], questions: [{}], odd: 1 }],
      },
      { ...anEvent(), start_date: 5, ticket_rates: [aRate({ min: 2, max: 1 })] },
      anEvent({ location_id: 'loc_9', ticket_rates: [aRate({ prices: [aPrice({ price: 0.001 })] })] }),
    ],
  }
  const paths = (await importMistakes(sale.db, file)).map((mistake) => mistake.slice(0, mistake.indexOf(':')))
  expect(paths.sort()).toEqual([
    'events.0.end_date',
    'events.0.name',
    'events.0.ticket_rates.0.name',
    'events.0.ticket_rates.0.odd',
    'events.0.ticket_rates.0.prices.0.price',
    'events.0.ticket_rates.0.questions.0.label',
    'events.1.start_date',
    'events.1.ticket_rates.0.max',
    'events.2.location_id',
    'events.2.ticket_rates.0.prices.0.price',
    'locations.0.timezone',
    'organizations.0.currency',
    'organizations.1.currency',
  ])
})

test('import lists a thousand errors and counts the rest', async () => {
  const mistakes = await importMistakes(sale.db, { events: Array.from({ length: 1_500 }, () => 0) })
  expect(mistakes).toHaveLength(1_001)
  expect(mistakes.at(-1)).toBe(': There are 500 more mistakes, which are not listed.')
})

test('the JSON Schema of the file has required fields and allows no unknown ones', () => {
  expect(catalogueJsonSchema()).toMatchObject({
    additionalProperties: false,
    properties: {
      organizations: { anyOf: [{ items: { required: ['_id', 'name', 'currency'] } }, { type: 'null' }] },
      locations: { anyOf: [{ items: { required: ['_id', 'organization_id', 'name'] } }, { type: 'null' }] },
      events: {
        anyOf: [
          {
            items: {
              additionalProperties: false,
              required: ['name', 'start_date', 'end_date', 'organization_id'],
              properties: {
                ticket_rates: {
                  anyOf: [
                    {
                      items: {
                        required: ['name'],
                        properties: { prices: { anyOf: [{ items: { required: ['price'] } }, {}] } },
                      },
                    },
                    { type: 'null' },
                  ],
                },
              },
            },
          },
          { type: 'null' },
        ],
      },
    },
  })
})
