// Runs in: postgres, slow-forms

import { beforeAll, expect, test } from 'vitest'
import { aBuyer, callOwn } from '../../support/box-office.ts'
import { toItems } from '../../support/contract-input.ts'
import { anEvent, anOrganization, aRateNamed, aRateOf, integrationHeaders } from '../../support/factories.ts'
import { callMutation } from '../../support/refunds.ts'
import { countCheckoutRows } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket, buyTickets, ticketOf } from '../../support/tickets.ts'

// Amounts of money that clients give: each is taken exactly, or refused with what is wrong.

const costly = (currency: string, price: number) => ({
  organization: anOrganization({ _id: `org_${currency}`, name: currency, currency }),
  event: anEvent({
    organization_id: `org_${currency}`,
    location_id: null,
    ticket_rates: [aRateNamed(currency, {}, { price, fee_quantity: 0 })],
  }),
})
const others = [costly('JPY', 1000), costly('KWD', 1.5)]

let paid = ''
const events = [
  anEvent({
    ticket_rates: [aRateOf(1000), aRateNamed('2')],
  }),
  ...others.map(({ event }) => event),
]
const organizations = [anOrganization(), ...others.map(({ organization }) => organization)]
const sale = sharedSale({ organizations, events })
beforeAll(async () => {
  paid = (await aPaidTicket(sale)).id
})

type Answer = {
  data?: Record<string, { payment?: object; refunds?: object[]; errors?: Problem[] } | null> | null
  errors?: { message: string; extensions?: Record<string, unknown> }[]
}
type Problem = { code: string; path: string | null; message: string }

// A code and a path for what is refused as data, and the code alone of a request that is refused as a whole.
function outcomeOf({ data, errors }: Answer): string {
  const [answer] = Object.values(data ?? {})
  const refused = answer?.errors?.map(({ code, path }) => `${code} ${path}`)
  return (
    [...(errors?.map(({ extensions }) => String(extensions?.code)) ?? []), ...(refused ?? [])].join() ||
    'taken'
  )
}

const checkout = (selection = '__typename') => `mutation ($input: CheckoutInput!) { checkout(input: $input) {
  ... on CheckoutPayload { ${selection} } ... on Refused { errors { code path message } } } }`

const itemOf = (name: string) => toItems(`rate_${name}`, [aBuyer(`price_${name}`)])
const buy = (expectedTotal: unknown, name = '1') =>
  sale.graphql<Answer['data']>(
    checkout(),
    { input: { items: itemOf(name), expectedTotal, idempotencyKey: crypto.randomUUID() } },
    sale.channel,
  )

// A ticket of `rate_1` costs 22 EUR. Each of the three fields takes or refuses the same amounts.
const given: Record<string, { path: string; ask(amount: unknown, currency?: string): Promise<unknown> }> = {
  'expectedTotal of checkout': {
    path: 'expectedTotal',
    ask: (amount, currency = 'EUR') => buy({ amount, currency }),
  },
  'expectedTotal of sellAtBoxOffice': {
    path: 'expectedTotal',
    ask: (amount, currency = 'EUR') =>
      callOwn(sale, 'sellAtBoxOffice', {
        ticketRateId: 'rate_1',
        tickets: [aBuyer('price_1')],
        method: 'CASH',
        expectedTotal: { amount, currency },
      }),
  },
  'amount of refundTickets': {
    path: 'amount',
    ask: (amount, currency = 'EUR') =>
      callMutation(
        sale,
        'refundTickets',
        { of: { ticketId: paid }, amount: { amount, currency }, idempotencyKey: crypto.randomUUID() },
        sale.integration.v2,
      ),
  },
}

const asks = Object.entries(given)

test.each(asks)('%s: an amount that is none is refused with its place', async (_name, { path, ask }) => {
  const before = await countCheckoutRows(sale)
  const outcomes: Record<string, string> = {}
  const mistakes: [what: string, amount: unknown, currency?: string][] = [
    ['three decimals', '22.005'],
    ['three decimals of which the last is none', '22.000'],
    ['what floating point makes of 21.49 * 5', 21.49 * 5],
    ['a negative amount', '-1.00'],
    ['a negative number', -1],
    ['more than an integer holds', '999999999999999'],
    ['more than an integer holds, as a number', 1e14],
    ['another currency', '22.00', 'USD'],
    ['another currency that is none', '22.00', 'XXX'],
  ]
  for (const [what, ...amount] of mistakes) outcomes[what] = outcomeOf((await ask(...amount)) as Answer)
  expect(outcomes).toEqual(
    Object.fromEntries(
      mistakes.map(([what, , currency]) => [
        what,
        `INVALID ${path}.${currency === undefined ? 'amount' : 'currency'}`,
      ]),
    ),
  )
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test.each(asks)('%s: what is no decimal number is refused by the schema', async (_name, { ask }) => {
  const before = await countCheckoutRows(sale)
  const mistakes: [amount: unknown, currency?: string][] = [
    ...['2.2e1', '2e1', '1E3', 1e21, 1e-7, 1e300].map((amount): [unknown] => [amount]),
    ...[
      '',
      ' ',
      ' 22.00',
      '22.00 ',
      '+22',
      '22.',
      '.5',
      '22,00',
      '1,000.00',
      '0x16',
      '١٢',
      'NaN',
      'Infinity',
    ].map((amount): [unknown] => [amount]),
    ...['1'.repeat(16), `1.${'1'.repeat(16)}`, 2 ** 60].map((amount): [unknown] => [amount]),
    ...[null, true, ['22.00', '22.00'], { amount: '22.00' }].map((amount): [unknown] => [amount]),
    ...['eur', 'EURO', '€', '', 978].map((currency): [unknown, string] => ['22.00', currency as string]),
  ]
  for (const [amount, currency] of mistakes)
    expect([amount, currency, outcomeOf((await ask(amount, currency)) as Answer)]).toEqual([
      amount,
      currency,
      'BAD_REQUEST',
    ])
  expect(await countCheckoutRows(sale)).toEqual(before)
})

test.each(asks.slice(0, 2))('%s: an exact number is taken, with any zeros', async (_name, { ask }) => {
  for (const amount of ['22.00', '22.0', '22', '0022.00', 22, 22.5, '22.01'])
    expect([amount, outcomeOf((await ask(amount)) as Answer)]).toEqual([amount, 'taken'])
  for (const amount of ['21.99', 21.99, '0', '0.00', 0])
    expect([amount, outcomeOf((await ask(amount)) as Answer)]).toEqual([
      amount,
      'TOTAL_INCREASED expectedTotal',
    ])
})

test('amount of refundTickets: an exact number is taken, and nothing is no amount', async () => {
  for (const amount of ['0.10', '0.1', 0.1, 1, '1'])
    expect([amount, outcomeOf((await given['amount of refundTickets']?.ask(amount)) as Answer)]).toEqual([
      amount,
      'taken',
    ])
  for (const amount of ['0', '0.00', 0])
    expect([amount, outcomeOf((await given['amount of refundTickets']?.ask(amount)) as Answer)]).toEqual([
      amount,
      'INVALID amount.amount',
    ])
})

test('a number in the document is taken by its digits, and refused with an exponent', async () => {
  const ask = async (amount: string) => {
    const input = `{ of: { ticketId: "${paid}" }, amount: { amount: ${amount}, currency: "EUR" }, idempotencyKey: "${crypto.randomUUID()}" }`
    const query = `mutation { refundTickets(input: ${input}) {
      ... on RefundTicketsPayload { refunds { amount { amount currency } } } ... on Refused { errors { code path message } } } }`
    const answer = await sale.graphql<Answer['data']>(query, {}, sale.integration.v2)
    return [outcomeOf(answer), answer.data?.refundTickets?.refunds?.[0]]
  }
  expect(await ask('0.10')).toEqual(['taken', { amount: { amount: '0.10', currency: 'EUR' } }])
  expect(await ask('1')).toEqual(['taken', { amount: { amount: '1.00', currency: 'EUR' } }])
  expect(await ask('0.100000000000000005')).toEqual(['BAD_REQUEST', undefined])
  expect(await ask('0.1000000000000005')).toEqual(['BAD_REQUEST', undefined])
  expect(await ask('0.100')).toEqual(['INVALID amount.amount', undefined])
  for (const amount of ['1e0', '1.0e1', '10E-1', '"1e0"', 'TEN', 'true', '["1"]'])
    expect([amount, await ask(amount)]).toEqual([amount, ['BAD_REQUEST', undefined]])
})

test('an amount has the decimals of its currency, and of what is charged in it', async () => {
  const ask = async (amount: string, currency: string) => outcomeOf(await buy({ amount, currency }, currency))
  expect(await ask('1000', 'JPY')).toBe('taken')
  expect(await ask('1000.0', 'JPY')).toBe('INVALID expectedTotal.amount')
  for (const amount of ['1.5', '1.50', '1.500', '1.510']) expect(await ask(amount, 'KWD')).toBe('taken')
  for (const amount of ['1.505', '1.5000'])
    expect(await ask(amount, 'KWD')).toBe('INVALID expectedTotal.amount')
  expect(await ask('1.490', 'KWD')).toBe('TOTAL_INCREASED expectedTotal')
})

test('a refusal of an amount says in plain words what is wrong', async () => {
  const said = async (expectedTotal: unknown, name?: string) =>
    (await buy(expectedTotal, name)).data?.checkout?.errors?.map(({ message }) => message)
  expect(await said({ amount: '22.005', currency: 'EUR' })).toEqual([
    'amount must have at most 2 decimals, as EUR has.',
  ])
  expect(await said({ amount: '1.505', currency: 'KWD' }, 'KWD')).toEqual([
    'amount must have at most 2 decimals, as what is charged in KWD has.',
  ])
  expect(await said({ amount: '-1', currency: 'EUR' })).toEqual(['amount must be at least 0.'])
  expect(await said({ amount: '999999999999999', currency: 'EUR' })).toEqual(['amount is too high.'])
  expect(await said({ amount: '22', currency: 'USD' })).toEqual(['currency must be EUR.'])
})

test('an amount as it was shown is taken back, in a checkout and in a refund', async () => {
  const shown = await sale.graphql<{ checkout: { payment: { id: string; totalAmount: object } } }>(
    checkout('payment { id totalAmount { amount currency } }'),
    { input: { items: itemOf('1'), idempotencyKey: crypto.randomUUID() } },
    sale.channel,
  )
  const { totalAmount } = shown.data?.checkout.payment ?? {}
  expect(outcomeOf(await buy(totalAmount))).toBe('taken')
  for (const currency of ['JPY', 'KWD']) {
    const bought = await buyTickets(sale, { rate: currency })
    const { v2 } = await integrationHeaders(sale.db, `org_${currency}`)
    const { data } = await sale.graphql<{ ticket: { settlement: { paid: object } } }>(
      'query ($id: ID!) { ticket(id: $id) { settlement { paid { amount currency } } } }',
      { id: ticketOf(bought) },
      v2,
    )
    const of = { ticketId: ticketOf(bought) }
    const input = { of, amount: data?.ticket.settlement.paid, idempotencyKey: 'all' }
    const { data: refunded } = await callMutation(sale, 'refundTickets', input, v2)
    expect(refunded?.refundTickets?.refunds?.[0]?.amount).toEqual(data?.ticket.settlement.paid)
  }
})

const two = [...itemOf('1'), ...itemOf('2')]
const quoted = (names: string[]) =>
  names.map((name) => ({ ticketRateId: `rate_${name}`, tickets: [{ priceId: `price_${name}` }] }))

test.each<[field: string, items: { none: unknown[]; two: unknown[] }, headers: () => Record<string, string>]>(
  [
    ['checkout', { none: [], two }, () => sale.channel],
    ['sellAtBoxOffice', { none: [], two }, () => sale.integration.v2],
    ['quoteCheckout', { none: [], two: quoted(['1', '2']) }, () => sale.channel],
  ],
)('%s refuses two items, and none, in plain words', async (field, items, headers) => {
  const before = await countCheckoutRows(sale)
  const name = `${field[0]?.toUpperCase()}${field.slice(1)}`
  const query = `${field === 'quoteCheckout' ? 'query' : 'mutation'} ($input: ${name}Input!) {
    ${field}(input: $input) { __typename ... on Refused { errors { __typename code path message } } } }`
  const more = field === 'sellAtBoxOffice' ? { method: 'CASH', idempotencyKey: 'two' } : {}
  const ask = async (items: unknown[]) =>
    (
      await sale.graphql<Answer['data']>(
        query,
        { input: { items, ...more, ...(field === 'checkout' && { idempotencyKey: crypto.randomUUID() }) } },
        headers(),
      )
    ).data?.[field]
  const refused = (message: string) => ({
    __typename: 'Refused',
    errors: [{ __typename: 'OtherError', code: 'INVALID', path: 'items', message }],
  })
  expect(await ask(items.two)).toEqual(
    refused('items must be of one ticket rate: several in one checkout are not possible yet.'),
  )
  expect(await ask(items.none)).toEqual(refused('items must not be empty.'))
  expect(await countCheckoutRows(sale)).toEqual(before)
  // Control: one of them is taken.
  expect(await ask(items.two.slice(0, 1))).not.toMatchObject({ __typename: 'Refused' })
})
