import { aBuyer } from './box-office.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aRateNamed,
  aSupplement,
  inDays,
} from './factories.ts'

// What an organization sells at its own door, and a rate for each reason why it sells none.

/** Year of `evt_1`, whose attendees must be 18 on the first of June. */
export const year = new Date().getUTCFullYear() + 4
const price = (_id: string, more = {}) => aPrice({ _id, ...more })
const places = (available: number) => ({ sold: 0, available })

/** Rates that a channel cannot sell: `rate_closed`, `rate_early` before that time, and `rate_over`. */
export const ratesNotOnSale = (earliest: string) => [
  aRateNamed('closed', { complete: true }),
  aRateNamed('early', { valid_from: earliest }),
  aRateNamed('over', {}, { valid_until: '2020-01-01T00:00:00Z' }),
]

/** An event that has begun, with `rate_running`, and one of `org_2`, with `rate_strange`. */
export const eventsNotOnSale = [
  anEvent({
    _id: 'evt_running',
    start_date: inDays(-1),
    end_date: inDays(1),
    ticket_rates: [aRateNamed('running')],
  }),
  anEvent({
    _id: 'evt_strange',
    organization_id: 'org_2',
    location_id: null,
    ticket_rates: [aRateNamed('strange')],
  }),
]

/** The organization of the sale, and one whose events are `evt_strange`. */
export const withStranger = (given = {}) => [
  anOrganization(given),
  anOrganization({ _id: 'org_2', name: 'Stranger' }),
]

export const boxOfficeCatalogue = aCatalogue({
  organizations: withStranger({
    language: 'es',
    discounts: [
      { _id: 'dsc_half', code: 'HALF', name: 'Half', percentage: 50 },
      { _id: 'dsc_once', code: 'ONCE', name: 'Once', amount: 5, quantity: 1 },
      { _id: 'dsc_old', code: 'OLD', name: 'Old', amount: 5, valid_until: '2020-01-01T00:00:00Z' },
      { _id: 'dsc_other', code: 'OTHER', name: 'Other', amount: 5, ticket_rate_ids: ['rate_free'] },
    ],
  }),
  events: [
    anEvent({
      _id: 'evt_1',
      age: '+18',
      start_date: `${year}-06-01T22:30:00Z`,
      end_date: `${year}-06-02T04:00:00Z`,
      ticket_rates: [
        aRateNamed('1', {
          admits: 4,
          warranty: { enabled: true, percentage: 10, hours: 24 },
          supplements: [aSupplement({ _id: 'sup_1' })],
        }),
        aRateNamed('free', {}, { price: 0 }),
        aRate({
          _id: 'rate_steps',
          prices: [price('price_first', { price: 10, quantity: 1 }), price('price_then')],
        }),
        aRateNamed('asks', { questions: [aQuestion({ _id: 'que_1', required: true })] }),
        aRateNamed('few', { min: 2, max: 3 }),
        aRateNamed('two', { availability: places(2) }),
        aRateNamed('none', { availability: places(0) }),
        aRateNamed('held', { availability: places(1) }),
        ...ratesNotOnSale(`${year}-01-01T00:00:00.000Z`),
        aRateNamed('capped', {}, { quantity: 1 }),
        aRateNamed('plain'),
      ],
    }),
    ...eventsNotOnSale,
  ],
})

/** Input of a sale of one ticket of a rate. */
export const oneOf = (
  rate: string,
  more: Record<string, unknown> = {},
  entry: Record<string, unknown> = {},
) => ({
  ticketRateId: rate,
  tickets: [aBuyer(rate.replace('rate', 'price'), entry)],
  ...more,
})

/** The same of several. */
export const severalOf = (rate: string, count: number) => ({
  ticketRateId: rate,
  tickets: Array.from({ length: count }, () => aBuyer(rate.replace('rate', 'price'))),
})
