import { afterAll, beforeAll, expect, test } from 'vitest'
import { aBuyer, callOwn, mustSell, problemsOf, sellAtBoxOffice } from '../../support/box-office.ts'
import { boxOfficeCatalogue, oneOf, severalOf, year } from '../../support/box-office-catalogue.ts'
import { toItems } from '../../support/contract-input.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { countCheckoutRows } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

// Why an organization can not sell a ticket at its own door: nothing is sold or held then.

const sale = sharedSale(boxOfficeCatalogue)
beforeAll(async () => {
  await mustSell(sale, { tickets: [aBuyer('price_1', { qrCode: 'DOOR-1' })], discountCode: 'ONCE' })
})
afterAll(async () => expect(await brokenInvariants(sale.db)).toEqual([]))

test.each<[problem: string, input: Record<string, unknown>]>([
  ['NOT_FOUND items.0.ticketRateId', oneOf('rate_absent')],
  ['NOT_FOUND items.0.ticketRateId', oneOf('rate_strange')],
  ['RATE_CLOSED items.0.ticketRateId', oneOf('rate_closed')],
  [`NOT_ON_SALE_YET items.0.ticketRateId ${year}-01-01T00:00:00.000Z`, oneOf('rate_early')],
  ['SALE_ENDED items.0.ticketRateId 2020-01-01T00:00:00.000Z', oneOf('rate_over')],
  ['SOLD_OUT items.0.tickets 0', oneOf('rate_none')],
  ['INSUFFICIENT_AVAILABILITY items.0.tickets 2', severalOf('rate_two', 3)],
  ['INSUFFICIENT_AVAILABILITY items.0.tickets.1.priceId 1', severalOf('rate_capped', 2)],
  ['TOO_FEW_TICKETS items.0.tickets 2 3', oneOf('rate_few')],
  ['TOO_MANY_TICKETS items.0.tickets 2 3', severalOf('rate_few', 4)],
  ['TOO_FEW_TICKETS items.0.tickets 1 50', severalOf('rate_1', 0)],
  ['TOO_MANY_TICKETS items.0.tickets 1 50', severalOf('rate_1', 51)],
  ['PRICE_NOT_IN_RATE items.0.tickets.0.priceId', { ...oneOf('rate_1'), tickets: [aBuyer('price_free')] }],
  [
    'SUPPLEMENT_NOT_IN_RATE items.0.tickets.0.supplements.0.supplementId',
    oneOf('rate_free', {}, { supplements: [{ supplementId: 'sup_1' }] }),
  ],
  ['ANSWER_REQUIRED items.0.tickets.0.answers', oneOf('rate_asks')],
  [
    'ANSWER_NOT_OFFERED items.0.tickets.0.answers.0.answer',
    oneOf('rate_asks', {}, { answers: [{ questionId: 'que_1', answer: { optionId: 'opt_none' } }] }),
  ],
  ['WARRANTY_NOT_OFFERED items.0.tickets.0.warranty', oneOf('rate_free', {}, { warranty: true })],
  [
    'UNDER_AGE items.0.tickets.0.attendee.birthDate 18',
    oneOf('rate_1', {}, { birthday: `${year - 17}-01-01` }),
  ],
  ['QR_CODE_TAKEN items.0.tickets.0.qrCode', oneOf('rate_1', {}, { qrCode: 'DOOR-1' })],
  [
    'DUPLICATE_QR_CODE items.0.tickets.1.qrCode',
    { ...oneOf('rate_1'), tickets: [aBuyer('price_1', { qrCode: 'X' }), aBuyer('price_1', { qrCode: 'X' })] },
  ],
  ['DISCOUNT_UNKNOWN discountCode', oneOf('rate_1', { discountCode: 'NONE' })],
  ['DISCOUNT_NOT_VALID discountCode 2020-01-01T00:00:00.000Z', oneOf('rate_1', { discountCode: 'OLD' })],
  ['DISCOUNT_NOT_FOR_RATE discountCode', oneOf('rate_1', { discountCode: 'OTHER' })],
  ['DISCOUNT_USED_UP discountCode 0', oneOf('rate_1', { discountCode: 'ONCE' })],
  ['TOTAL_INCREASED expectedTotal 22', oneOf('rate_1', { expectedTotal: 21.99 })],
  ['INVALID expectedTotal.amount', oneOf('rate_1', { expectedTotal: -1 })],
  ['INVALID reference', oneOf('rate_1', { reference: 'x'.repeat(101) })],
  ['INVALID reference', oneOf('rate_1', { reference: 'a\0b' })],
  ['INVALID language', oneOf('rate_1', { language: 'x' })],
  ['INVALID discountCode', oneOf('rate_1', { discountCode: 'x'.repeat(65) })],
  ['INVALID idempotencyKey', oneOf('rate_1', { idempotencyKey: '' })],
  ['INVALID items.0.tickets.0.attendee.email', oneOf('rate_1', {}, { email: 'x' })],
])('a sale at the box office is refused: %s', async (problem, input) => {
  const before = await countCheckoutRows(sale)
  const refused = await sellAtBoxOffice(sale, input)
  expect(refused.__typename).toBe('Refused')
  expect(problemsOf(refused)).toEqual([problem])
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test('a sale at the box office reports every problem at once', async () => {
  const input = oneOf('rate_asks', {}, { warranty: true, supplements: [{ supplementId: 'sup_1' }] })
  expect(problemsOf(await sellAtBoxOffice(sale, input)).map((problem) => problem.split(' ')[0])).toEqual([
    'SUPPLEMENT_NOT_IN_RATE',
    'ANSWER_REQUIRED',
    'WARRANTY_NOT_OFFERED',
  ])
})

test.each([
  ['SOLD_OUT', 'rate_none', 1, 0],
  ['INSUFFICIENT_AVAILABILITY', 'rate_two', 3, 2],
])('a refusal for want of places leads to the rate: %s', async (code, rate, count, available) => {
  const refused = `__typename ... on Refused { errors { code
    ... on AvailabilityError { available ticketRate { id status availability { available } } } } }`
  const { ticketRateId, tickets } = severalOf(rate, count)
  const items = toItems(ticketRateId, tickets)
  const status = available > 0 ? 'ON_SALE' : 'SOLD_OUT'
  const answer = {
    __typename: 'Refused',
    errors: [{ code, available, ticketRate: { id: rate, status, availability: { available } } }],
  }
  const atDoor = await sale.graphql(
    `mutation ($input: SellAtBoxOfficeInput!) { answer: sellAtBoxOffice(input: $input) { ${refused} } }`,
    { input: { items, method: 'CASH', idempotencyKey: rate } },
    sale.integration.v2,
  )
  expect(atDoor.data).toEqual({ answer })
  const online = await sale.graphql(
    `mutation ($input: CheckoutInput!) { answer: checkout(input: $input) { ${refused} } }`,
    { input: { items, idempotencyKey: rate } },
    sale.channel,
  )
  expect(online.data).toEqual({ answer })
})

test.each(['CHEQUE', null, undefined])('the method %s is refused by the schema', async (method) => {
  const { data, errors } = await callOwn(sale, 'sellAtBoxOffice', { ...oneOf('rate_1'), method })
  expect(data).toBeUndefined()
  expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['BAD_REQUEST'])
})
