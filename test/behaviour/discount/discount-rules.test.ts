// Runs in: postgres, slow-forms

import { expect, test } from 'vitest'
import { checkOutOverGraphql, mustCheckOut, toCheckoutInput } from '../../support/checkouts.ts'
import { amountsOf, money, withNumbers } from '../../support/contract-input.ts'
import { aDiscount, refusedOnBoth, times, usesOf, withCode } from '../../support/discounts.ts'
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

const past = inDays(-2)
const future = inDays(2)
const longPast = inDays(-3)

const discounts = [
  aDiscount({ code: 'Third', percentage: 33.3333 }),
  aDiscount({ code: 'five', amount: 5 }),
  aDiscount({ code: 'all', percentage: 100 }),
  aDiscount({ code: 'two-of-them', percentage: 50, max_per_checkout: 2 }),
  aDiscount({ code: 'three-uses', quantity: 3 }),
  aDiscount({ code: 'used-once', quantity: 1 }),
  aDiscount({ code: 'other-rate', ticket_rate_ids: ['rate_2'] }),
  aDiscount({ code: 'both-rates', ticket_rate_ids: ['rate_1', 'rate_2'] }),
  aDiscount({ code: 'early', valid_from: future }),
  aDiscount({ code: 'late', valid_until: past }),
  aDiscount({ code: 'closed', valid_from: longPast, valid_until: past }),
  aDiscount({ code: 'now', valid_from: past, valid_until: future }),
]

const catalogue = aCatalogue({
  organizations: [
    anOrganization({ platform_fee_percentage: 5, discounts }),
    anOrganization({ _id: 'org_2', name: 'Other', discounts: [aDiscount({ code: 'foreign' })] }),
    anOrganization({
      _id: 'org_jpy',
      name: 'Tokyo',
      currency: 'JPY',
      discounts: [aDiscount({ code: 'yen', percentage: 0.5 })],
    }),
  ],
  events: [
    anEvent({
      ticket_rates: [
        aRateNamed(
          '1',
          {
            supplements: [aSupplement({ _id: 'sup_1', price: 3 })],
            warranty: { enabled: true, percentage: 10, hours: 24 },
          },
          { price: 20, fee_quantity: 10 },
        ),
        aRateNamed('2', {}, { price: 4 }),
        aRateNamed('fixed', {}, { price: 10, fee_type: 'fixed', fee_quantity: 1.5 }),
        aRate({
          _id: 'rate_mixed',
          prices: [aPrice({ _id: 'price_free', price: 0 }), aPrice({ _id: 'price_paid', price: 10 })],
        }),
      ],
    }),
    anEvent({
      organization_id: 'org_jpy',
      location_id: null,
      ticket_rates: [aRateNamed('jpy', {}, { price: 100, fee_quantity: 0 })],
    }),
  ],
})

const sale = sharedSale(catalogue)

test('a discount comes off the price, and fee, commission and warranty follow from what is left', async () => {
  const [entry] = withCode('third').tickets
  const body = {
    ...withCode('THIRD'),
    tickets: [{ ...entry, warranty: true, supplements: [{ supplement_id: 'sup_1' }] }],
  }
  const { tickets, total_amount } = await mustCheckOut(sale, body)
  // 33.3333 % of 20 is 6.66666; 10 % of 13.33 is 1.333; 5 % is 0.6665; 10 % of 16.33 is 1.633.
  expect(tickets).toMatchObject([
    {
      price: { _id: 'price_1', price: 20 },
      fees: { organization: 1.33, platform: 0.67 },
      total_supplements: 3,
      warranty: { total: 1.63 },
      total_price: 19.29,
    },
  ])
  expect(total_amount).toBe(19.29)
  const looked = await sale.rest('GET', `/integrations/tickets/${tickets[0]?._id}`, {
    headers: sale.integration.v2,
  })
  expect(looked.json().data).toMatchObject({ price: 20, discount_quantity_subtract: 6.67, total_fees: 1.33 })
})

test.each(['third', 'THIRD', 'tHiRd', ' third '])('the code %j is found whatever its case', async (code) => {
  expect(await mustCheckOut(sale, withCode(code))).toMatchObject({ total_amount: 14.66 })
  expect(await checkOutOverGraphql(sale, withCode(code))).toMatchObject({
    payment: { totalAmount: 14.66 },
  })
})

test('an amount takes no more off than the price', async () => {
  expect(await mustCheckOut(sale, withCode('five'))).toMatchObject({ total_amount: 16.5 })
  const { payment, tickets } = await checkOutOverGraphql(sale, withCode('five', 'rate_2'))
  expect(payment).toMatchObject({ status: 'PAID', totalAmount: 0 })
  expect(tickets).toMatchObject([{ status: 'ACTIVATED', amounts: { total: 0 } }])
})

test('a discount of everything is paid at once, and uses it', async () => {
  const before = await usesOf(sale, 'dsc_all')
  const { payment, tickets } = await checkOutOverGraphql(sale, withCode('all', 'rate_1', times(2)))
  expect(payment).toMatchObject({ status: 'PAID', totalAmount: 0 })
  expect(tickets.map(({ status }) => status)).toEqual(['ACTIVATED', 'ACTIVATED'])
  expect(await usesOf(sale, 'dsc_all')).toEqual({ sold: (before?.sold ?? 0) + 2, held: 0 })
})

test('a fixed fee stays, even if the price is discounted to nothing', async () => {
  expect(await mustCheckOut(sale, withCode('all', 'rate_fixed'))).toMatchObject({
    total_amount: 1.5,
    tickets: [{ fees: { organization: 1.5, platform: 0 }, total_price: 1.5 }],
  })
})

test('a percentage rounds half up in minor units of the currency', async () => {
  // 0.5 % of ¥100 is half a yen.
  expect(await mustCheckOut(sale, withCode('yen', 'rate_jpy'))).toMatchObject({ total_amount: 99 })
})

test('max_per_checkout applies to the first tickets that have something to take off', async () => {
  const { tickets, total_amount } = await mustCheckOut(sale, withCode('two-of-them', 'rate_1', times(4)))
  expect(tickets.map(({ total_price }) => total_price)).toEqual([11, 11, 22, 22])
  expect(total_amount).toBe(66)
  const prices = ['price_free', 'price_paid', 'price_free', 'price_paid', 'price_paid']
  const mixed = await mustCheckOut(sale, withCode('two-of-them', 'rate_mixed', prices))
  expect(mixed.tickets.map(({ total_price }) => total_price)).toEqual([0, 5.5, 0, 5.5, 11])
  expect(await usesOf(sale, 'dsc_two-of-them')).toEqual({ sold: 0, held: 4 })
})

test('a free ticket uses no discount', async () => {
  const before = await usesOf(sale, 'dsc_third')
  await mustCheckOut(sale, withCode('third', 'rate_mixed', ['price_free']))
  expect(await usesOf(sale, 'dsc_third')).toEqual(before)
})

test.each([
  ['an unknown code', 'nothing', 'DISCOUNT_UNKNOWN', 422],
  ['a code of another organization', 'foreign', 'DISCOUNT_UNKNOWN', 422],
  ['a code for another rate', 'other-rate', 'DISCOUNT_NOT_FOR_RATE', 422],
])('%s is refused on both surfaces, and holds nothing', async (_what, code, problem, status) => {
  const before = await usesOf(sale, 'rate_1')
  const refused = await refusedOnBoth(sale, withCode(code))
  expect(refused).toMatchObject({
    problems: [`${problem} discount_code`],
    status,
    graphql: { __typename: 'OtherError', path: 'discountCode' },
  })
  expect(await usesOf(sale, 'rate_1')).toEqual(before)
})

test('a code of another organization is answered exactly like one that does not exist', async () => {
  const [foreign, absent] = await Promise.all([
    refusedOnBoth(sale, withCode('foreign')),
    refusedOnBoth(sale, withCode('nothing')),
  ])
  expect(foreign).toEqual(absent)
})

test.each([
  ['early', { valid_from: future }, { startsAt: future, endedAt: null }],
  ['late', { valid_until: past }, { startsAt: null, endedAt: past }],
  ['closed', { valid_from: longPast, valid_until: past }, { startsAt: longPast, endedAt: past }],
])('the code %s is refused with the time of its validity', async (code, facts, times) => {
  const { problems, rest, graphql, status } = await refusedOnBoth(sale, withCode(code))
  expect(problems).toEqual(['DISCOUNT_NOT_VALID discount_code'])
  expect(status).toBe(422)
  expect(rest).toMatchObject(facts)
  expect(graphql).toMatchObject({ __typename: 'SaleTimeError', ...times })
})

test('a discount within its time, and for several rates, applies', async () => {
  expect(await mustCheckOut(sale, withCode('now'))).toMatchObject({ total_amount: 19.8 })
  for (const [rate, total_amount] of [
    ['rate_1', 19.8],
    ['rate_2', 3.96],
  ] as const)
    expect(await mustCheckOut(sale, withCode('both-rates', rate))).toMatchObject({ total_amount })
})

test('a discount with too few uses left is refused whole, with what is left', async () => {
  const four = await refusedOnBoth(sale, withCode('three-uses', 'rate_1', times(4)))
  expect(four).toMatchObject({
    problems: ['DISCOUNT_USED_UP discount_code'],
    status: 409,
    rest: { available: 3 },
    graphql: { __typename: 'AvailabilityError', available: 3 },
  })
  expect(await usesOf(sale, 'dsc_three-uses')).toEqual({ sold: 0, held: 0 })
  await mustCheckOut(sale, withCode('three-uses', 'rate_1', times(2)))
  expect((await refusedOnBoth(sale, withCode('three-uses', 'rate_1', times(2)))).rest).toMatchObject({
    available: 1,
    message: 'The discount has 1 left.',
  })
  await mustCheckOut(sale, withCode('three-uses'))
  expect((await refusedOnBoth(sale, withCode('three-uses'))).rest).toMatchObject({
    available: 0,
    message: 'The discount is used up.',
  })
})

test('a refusal for want of uses leads to no rate, which has places left', async () => {
  const query = `mutation ($input: CheckoutInput!) { checkout(input: $input) { ... on Refused {
    errors { code ... on AvailabilityError { available ticketRate { id } } } } } }`
  const input = { ...toCheckoutInput(withCode('three-uses')), idempotencyKey: 'three-uses' }
  const { data } = await sale.graphql(query, { input }, sale.channel)
  const error = { code: 'DISCOUNT_USED_UP', available: 0, ticketRate: null }
  expect(data).toEqual({ checkout: { errors: [error] } })
})

test('uses are shared by all rates that a discount is for', async () => {
  await mustCheckOut(sale, withCode('used-once', 'rate_2'))
  expect((await refusedOnBoth(sale, withCode('used-once'))).problems).toEqual([
    'DISCOUNT_USED_UP discount_code',
  ])
})

test.each(['zwölf', 'PIÑATA', 'a b'])('the code %j is unknown', async (code) => {
  expect((await refusedOnBoth(sale, withCode(code))).problems).toEqual(['DISCOUNT_UNKNOWN discount_code'])
})

test.each(['a\nb', 'x'.repeat(65), 7])('the code %j is malformed', async (code) => {
  const answer = await sale.rest('POST', '/tickets/checkout', {
    headers: sale.channel,
    body: { ...withCode(null), discount_code: code },
  })
  expect(answer.json()).toMatchObject({ code: 'INVALID', errors: [{ path: 'discount_code' }] })
})

test('a null code is none', async () => {
  expect(await mustCheckOut(sale, withCode(null))).toMatchObject({ total_amount: 22 })
})

test('the same key and another code is another request', async () => {
  const key = { 'idempotency-key': 'with-code' }
  const made = await mustCheckOut(sale, withCode('five'), key)
  expect((await mustCheckOut(sale, withCode('five'), key)).payment_id).toBe(made.payment_id)
  const headers = { ...sale.channel, ...key }
  const other = await sale.rest('POST', '/tickets/checkout', { headers, body: withCode('now') })
  expect(other.json().code).toBe('IDEMPOTENCY_KEY_REUSED')
})

test('expectedTotal is compared with the discounted total', async () => {
  const checkout = (expectedTotal: number) =>
    checkOutOverGraphql(sale, withCode('five'), { expectedTotal: money(expectedTotal) })
  expect(await checkout(16.49)).toMatchObject({ errors: [{ code: 'TOTAL_INCREASED', amount: 16.5 }] })
  expect(await checkout(16.5)).toMatchObject({ payment: { totalAmount: 16.5 } })
})

test('a quote shows what the discount takes off, by ticket and in all, and uses nothing', async () => {
  const before = await usesOf(sale, 'dsc_two-of-them')
  const amounts = `amounts { ${amountsOf('price', 'discount', 'supplements', 'fees', 'warranty', 'total')} }`
  const query = `query ($input: QuoteCheckoutInput!) { quoteCheckout(input: $input) {
    ... on CheckoutQuote { ${amounts} items { tickets { ${amounts} } } }
    ... on Refused { errors { code path ... on AvailabilityError { available } } } } }`
  const quote = async (code: string, count: number) => {
    const tickets = times(count).map((priceId) => ({ priceId }))
    const input = { items: [{ ticketRateId: 'rate_1', tickets }], discountCode: code }
    const { data } = await sale.graphql<{ quoteCheckout: object }>(query, { input }, sale.channel)
    return withNumbers(data?.quoteCheckout)
  }
  const noExtras = { supplements: 0, warranty: 0 }
  expect(await quote('Two-Of-Them', 3)).toEqual({
    amounts: { price: 60, discount: 20, ...noExtras, fees: 4, total: 44 },
    items: [
      {
        tickets: [
          { amounts: { price: 20, discount: 10, ...noExtras, fees: 1, total: 11 } },
          { amounts: { price: 20, discount: 10, ...noExtras, fees: 1, total: 11 } },
          { amounts: { price: 20, discount: 0, ...noExtras, fees: 2, total: 22 } },
        ],
      },
    ],
  })
  expect(await usesOf(sale, 'dsc_two-of-them')).toEqual(before)
  expect(await quote('three-uses', 4)).toEqual({
    errors: [{ code: 'DISCOUNT_USED_UP', path: 'discountCode', available: 0 }],
  })
})

test('every reason for a refusal is reported at once', async () => {
  const { problems } = await refusedOnBoth(sale, withCode('nothing', 'rate_1', ['price_2']))
  expect(problems).toEqual(['PRICE_NOT_IN_RATE tickets.0.price_id', 'DISCOUNT_UNKNOWN discount_code'])
})
