// Runs in: postgres, slow-forms

import { expect, test } from 'vitest'
import { anEntry, checkOutOverGraphql, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import { money } from '../../support/contract-input.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  aRateNamed,
  aSupplement,
  inDays,
} from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

const past = inDays(-1)
const steps = (rate: string) => [
  aPrice({ _id: `${rate}_early`, price: 10, valid_until: past }),
  aPrice({ _id: `${rate}_regular`, price: 15, quantity: 2 }),
  aPrice({ _id: `${rate}_late`, price: 20 }),
]

const catalogue = aCatalogue({
  organizations: [
    anOrganization({ platform_fee_percentage: 2.5 }),
    anOrganization({ _id: 'org_jpy', name: 'Tokyo', currency: 'JPY', platform_fee_percentage: 3.3333 }),
  ],
  events: [
    anEvent({
      ticket_rates: [
        aRateNamed(
          'full',
          {
            supplements: [
              aSupplement({ _id: 'sup_a', price: 3.5, has_fake_price: true, fake_price: 5 }),
              aSupplement({ _id: 'sup_b', price: 1.01 }),
            ],
            warranty: { enabled: true, percentage: 10, hours: 48 },
          },
          { price: 19.99, fee_type: 'percentage', fee_quantity: 7.5 },
        ),
        aRateNamed('fixed', {}, { price: 30, fee_type: 'fixed', fee_quantity: 1.25 }),
        aRateNamed('half', {}, { price: 0.3, fee_quantity: 5 }),
        aRateNamed('free', {}, { price: 0 }),
        aRate({ _id: 'rate_steps', prices: steps('steps') }),
        aRate({ _id: 'rate_expected', prices: steps('expected') }),
        aRate({ _id: 'rate_secret', show_all_prices: false, prices: steps('secret') }),
      ],
    }),
    anEvent({
      organization_id: 'org_jpy',
      location_id: null,
      ticket_rates: [aRateNamed('jpy', {}, { price: 4505, fee_quantity: 10 })],
    }),
  ],
})

const sale = sharedSale(catalogue)

const body = (rate: string, ...tickets: Record<string, unknown>[]) => ({
  ticket_rate_id: `rate_${rate}`,
  tickets: tickets as [],
})

test('a checkout total adds fee, supplements and warranty, but no platform fee', async () => {
  const entry = anEntry('price_full', {
    warranty: true,
    supplements: [{ supplement_id: 'sup_a' }, { supplement_id: 'sup_b' }],
  })
  const { tickets, total_amount } = await mustCheckOut(sale, body('full', entry, anEntry('price_full')))
  expect(tickets).toMatchObject([
    {
      price: { _id: 'price_full', price: 19.99 },
      payment_currency: 'EUR',
      // 7.5 % of 19.99 is 1.49925; 2.5 % is 0.49975; 10 % of 24.50 is 2.45.
      fees: { organization: 1.5, platform: 0.5 },
      supplements: [
        { supplement_id: 'sup_a', price: 3.5 },
        { supplement_id: 'sup_b', price: 1.01 },
      ],
      total_supplements: 4.51,
      total_fees: 1.5,
      warranty: { total: 2.45, hours: 48 },
      total_price: 28.45,
    },
    { total_supplements: 0, warranty: { total: 0, hours: 0 }, total_price: 21.49 },
  ])
  expect(total_amount).toBe(49.94)
})

test('a checkout total takes a fixed fee as an amount', async () => {
  const { tickets, total_amount } = await mustCheckOut(sale, body('fixed', anEntry('price_fixed')))
  expect(tickets).toMatchObject([{ fees: { organization: 1.25 }, total_price: 31.25 }])
  expect(total_amount).toBe(31.25)
})

test('a checkout rounds fees half up, once for each ticket', async () => {
  // 5 % of 0.30 is 0.015: two cents a ticket, not three cents for both.
  const { tickets, total_amount } = await mustCheckOut(
    sale,
    body('half', anEntry('price_half'), anEntry('price_half')),
  )
  expect(tickets.map((ticket) => ticket.total_fees)).toEqual([0.02, 0.02])
  expect(total_amount).toBe(0.64)
})

test('a checkout counts in minor units of its currency', async () => {
  const { tickets, total_amount } = await mustCheckOut(sale, body('jpy', anEntry('price_jpy')))
  // 10 % of 4505 is 450.5; 3.3333 % is 150.17.
  expect(tickets).toMatchObject([
    { payment_currency: 'JPY', fees: { organization: 451, platform: 150 }, total_price: 4956 },
  ])
  expect(total_amount).toBe(4956)
})

test('a checkout over 0 is paid at once', async () => {
  const { payment, tickets } = await checkOutOverGraphql(sale, body('free', anEntry('price_free')))
  expect(payment).toMatchObject({ status: 'PAID', totalAmount: 0 })
  expect(tickets).toMatchObject([{ status: 'ACTIVATED' }])
  expect((await countersOf(sale)).rate_free).toEqual({ sold: 1, held: 0 })
})

test('a checkout at an unavailable price sells at the current one and says so', async () => {
  // The regular price has two tickets: the first two checkouts take them, and the third pays the late price.
  const first = await mustCheckOut(sale, body('steps', anEntry('steps_early')))
  expect(first).toMatchObject({
    conditions_changed: true,
    total_amount: 16.5,
    tickets: [{ price: { _id: 'steps_regular' } }],
  })
  const second = await mustCheckOut(sale, body('steps', anEntry('steps_regular')))
  expect(second).toMatchObject({ conditions_changed: false, tickets: [{ price: { _id: 'steps_regular' } }] })
  const third = await mustCheckOut(sale, body('steps', anEntry('steps_regular'), anEntry('steps_late')))
  expect(third).toMatchObject({
    conditions_changed: true,
    total_amount: 44,
    tickets: [{ price: { _id: 'steps_late' } }, { price: { _id: 'steps_late' } }],
  })
  const counters = await countersOf(sale)
  expect([counters.steps_early, counters.steps_regular, counters.steps_late, counters.rate_steps]).toEqual(
    [0, 2, 2, 4].map((held) => ({ sold: 0, held })),
  )
})

test('a checkout dearer than expectedTotal is refused and holds nothing', async () => {
  const checkout = (expectedTotal: number) =>
    checkOutOverGraphql(sale, body('expected', anEntry('expected_early')), {
      expectedTotal: money(expectedTotal),
    })
  expect(await checkout(11)).toMatchObject({
    errors: [
      {
        __typename: 'AmountError',
        code: 'TOTAL_INCREASED',
        amount: 16.5,
        path: 'expectedTotal',
      },
    ],
  })
  expect((await countersOf(sale)).rate_expected).toEqual({ sold: 0, held: 0 })
  expect(await checkout(16.5)).toMatchObject({
    __typename: 'CheckoutPayload',
    payment: { totalAmount: 16.5 },
  })
})

type Rates = { data: { ticket_rates: { _id: string; prices: { _id: string }[] }[] }[] }

test('a rate that hides its prices shows the current one and sells later ones by id', async () => {
  const answer = await sale.rest('GET', '/events?populate=*&organization_id=org_1', { headers: sale.channel })
  const rates = answer.json<Rates>().data.flatMap(({ ticket_rates }) => ticket_rates)
  const prices = (id: string) => rates.find(({ _id }) => _id === id)?.prices.map(({ _id }) => _id)
  expect(prices('rate_secret')).toEqual(['secret_regular'])
  expect(prices('rate_expected')).toEqual(['expected_early', 'expected_regular', 'expected_late'])
  const query = '{ ticketRate(id: "rate_secret") { currentPrice { id } prices { id } } }'
  expect((await sale.graphql(query, {}, sale.channel)).data).toEqual({
    ticketRate: { currentPrice: { id: 'secret_regular' }, prices: [{ id: 'secret_regular' }] },
  })
  const late = await mustCheckOut(sale, body('secret', anEntry('secret_late')))
  expect(late).toMatchObject({ conditions_changed: false, tickets: [{ price: { _id: 'secret_late' } }] })
})

test('a quote has the total of its checkout and holds nothing', async () => {
  const before = await countersOf(sale)
  const part = '{ amount currency }'
  const amounts = `amounts { price ${part} discount ${part} supplements ${part} fees ${part} warranty ${part} total ${part} }`
  const query = `query ($input: QuoteCheckoutInput!) { quoteCheckout(input: $input) { ... on CheckoutQuote {
    conditionsChanged ${amounts} items { ticketRate { id } tickets { price { id } ${amounts} } } } } }`
  const ticket = { priceId: 'price_full', warranty: true, supplements: [{ supplementId: 'sup_a' }] }
  const { data } = await sale.graphql(
    query,
    { input: { items: [{ ticketRateId: 'rate_full', tickets: [ticket] }] } },
    sale.channel,
  )
  const quoted = {
    price: money(19.99),
    discount: money(0),
    supplements: money(3.5),
    fees: money(1.5),
    warranty: money(2.35),
    total: money(27.34),
  }
  expect(data).toEqual({
    quoteCheckout: {
      conditionsChanged: false,
      amounts: quoted,
      items: [
        { ticketRate: { id: 'rate_full' }, tickets: [{ price: { id: 'price_full' }, amounts: quoted }] },
      ],
    },
  })
  expect(await countersOf(sale)).toEqual(before)
  const entry = anEntry('price_full', { warranty: true, supplements: [{ supplement_id: 'sup_a' }] })
  expect(await mustCheckOut(sale, body('full', entry))).toMatchObject({ total_amount: 27.34 })
})
