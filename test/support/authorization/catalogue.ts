import { derivedId } from '../../../src/domain/contract/ids.ts'
import { aDiscount } from '../discounts.ts'
import {
  aCatalogue,
  aLocation,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
  inDays,
} from '../factories.ts'

// Two organizations with the same kinds of objects. Every private text carries a mark, so that a leak is
// recognised anywhere in a response.

/** Matches the marks in a text: `mk-catalogue-1`, `mk-sale-shop`, `mk-hook-shop`. */
export const marks = /\bmk-[a-z]+-[a-zA-Z0-9]+/g

export const catalogueMark = (organization: number | string) => `mk-catalogue-${organization}`

/** Option of a question that asks how the buyer heard of the event. */
export const optionOf = (question: string) => derivedId('opt', question, 'A friend')

const rateOf = (organization: number, name: string) =>
  aRate({
    _id: `rate_${organization}_${name}`,
    name: `${catalogueMark(organization)} ${name}`,
    availability: { sold: 0, available: 100_000 },
    warranty: { enabled: true, percentage: 10, hours: 24 },
    // Parts carry no mark: a ticket shows them to its channel forever.
    prices: [aPrice({ _id: `price_${organization}_${name}` })],
    supplements: [aSupplement({ _id: `sup_${organization}_${name}`, has_fake_price: true, fake_price: 5 })],
    questions: [
      aQuestion({
        _id: `que_${organization}_${name}`,
        label: catalogueMark(organization),
        type: 'text',
        items: [],
      }),
      aQuestion({ _id: `size_${organization}_${name}` }),
    ],
  })

const soldOut = (organization: number) => ({
  ...rateOf(organization, 'full'),
  availability: { sold: 0, available: 0 },
})

const eventOf = (organization: number) =>
  anEvent({
    _id: `evt_${organization}`,
    name: `${catalogueMark(organization)} night`,
    description: catalogueMark(organization),
    // An age that every buyer has reached.
    age: '18',
    organization_id: `org_${organization}`,
    location_id: `loc_${organization}`,
    artists: [{ name: catalogueMark(organization), image_url: null }],
    iframe: { tag_url: `https://shop.example/${catalogueMark(organization)}`, script_url: null },
    start_date: inDays(30 + organization),
    end_date: inDays(30.5 + organization),
    ticket_rates: [rateOf(organization, 'a'), rateOf(organization, 'b'), soldOut(organization)],
  })

export const catalogueOfTwo = () =>
  aCatalogue({
    organizations: [1, 2].map((organization) =>
      anOrganization({
        _id: `org_${organization}`,
        name: catalogueMark(organization),
        discounts: [
          aDiscount({
            _id: `dsc_${organization}`,
            code: `code-${organization}`,
            ...(organization === 2 && { amount: 1 }),
            name: catalogueMark(organization),
            ticket_rate_ids: [`rate_${organization}_a`],
          }),
        ],
      }),
    ),
    locations: [1, 2].map((organization) =>
      aLocation({
        _id: `loc_${organization}`,
        organization_id: `org_${organization}`,
        name: catalogueMark(organization),
      }),
    ),
    events: [eventOf(1), eventOf(2)],
  })
