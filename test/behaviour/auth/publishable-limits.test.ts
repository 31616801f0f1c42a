import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { anEntry, type Checkout } from '../../support/checkouts.ts'
import { anOrganization, aRateNamed, aRateOf } from '../../support/factories.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { publishableHeaders } from '../../support/modes.ts'
import { openPageBuyer } from '../../support/payment-page-buyer.ts'
import { cancelPayment } from '../../support/refunds.ts'
import { openSale, restProblems, type Sale } from '../../support/sale.ts'

// Bounds of what a stranger with a publishable key holds and guesses, from one address.

const freeRate = () =>
  aRateNamed('free', { availability: { sold: 0, available: 500 } }, { price: 0, fee_quantity: 0 })

let sale: Sale
let page: Record<string, string>
beforeEach(async () => {
  const discounts = [{ _id: 'dis_1', code: 'SECRET', name: 'Secret', percentage: 10 }]
  sale = await openSale({
    organizations: [anOrganization({ discounts })],
    rates: [aRateOf(467), freeRate()],
    settings: { PUBLISHABLE_HELD_PLACES: '60', PUBLISHABLE_FREE_HOURS: '5', TRUST_PROXY: '1' },
  })
  page = await publishableHeaders(sale)
})
afterEach(() => sale?.close())

const from = (address: string, headers = page): Record<string, string> => ({
  ...headers,
  'x-forwarded-for': address,
})
const checkOut = (places: number, headers: Record<string, string>, more = {}) =>
  sale.rest('POST', '/tickets/checkout', {
    headers,
    body: {
      ticket_rate_id: 'rate_1',
      tickets: Array.from({ length: places }, () => anEntry('price_1')),
      ...more,
    },
  })
const freely = (places: number) => ({
  ticket_rate_id: 'rate_free',
  tickets: Array.from({ length: places }, (_, index) =>
    anEntry('price_free', { email: `to${index}@example.com` }),
  ),
})
const heldBy = async (places: number, headers: Record<string, string>, more = {}) => {
  const answer = await checkOut(places, headers, more)
  return answer.statusCode === 200 ? 'held' : restProblems(answer).join()
}

const entry = '{ priceId: "price_1", attendee: { fullName: "Ana", email: "ana@example.com" } }'
const inputOf = (ticket: string, more = '') =>
  `input: { items: [{ ticketRateId: "rate_1", tickets: [${ticket}] }]${more} }`
const input = () => inputOf(entry, `, idempotencyKey: "${crypto.randomUUID()}"`)
const quoted = (more = '') => inputOf('{ priceId: "price_1" }', more)
const outcome = '... on Refused { errors { code } }'

test('an operation of a publishable key checks out or quotes once, and else does nothing', async () => {
  const twice = [
    `mutation { a: checkout(${input()}) { __typename } b: checkout(${input()}) { __typename } }`,
    `mutation { a: checkout(${input()}) { __typename } ... on Mutation { b: checkout(${input()}) { __typename } } }`,
    `mutation { a: checkout(${input()}) { __typename } ...More } fragment More on Mutation { b: checkout(${input()}) { __typename } }`,
    `{ a: quoteCheckout(${quoted()}) { __typename } ...More } fragment More on Query { b: quoteCheckout(${quoted()}) { __typename } }`,
  ]
  for (const query of twice) {
    const { errors } = await sale.graphql(query, {}, from('192.0.2.1'))
    expect(errors?.[0]?.extensions?.code).toBe('QUERY_TOO_COMPLEX')
    // Control: a channel may.
    expect((await sale.graphql(query, {}, sale.channel)).errors).toBeUndefined()
  }
  const mine = await sale.graphql<{ ticketRate: { availability: { available: number } } }>(
    '{ ticketRate(id: "rate_1") { availability { available } } }',
    {},
    page,
  )
  // The channel's two of each mutation; nothing of the browser's.
  expect(mine.data?.ticketRate.availability.available).toBe(467 - 6)
  const once = await sale.graphql(`mutation { checkout(${input()}) { __typename } }`, {}, page)
  expect([once.errors, once.data]).toEqual([undefined, { checkout: { __typename: 'CheckoutPayload' } }])
})

test('an address holds so many unpaid places, and others none the fewer', async () => {
  const stranger = from('192.0.2.1')
  const first = (await checkOut(50, stranger)).json<{ data: Checkout }>().data
  expect(await heldBy(11, stranger)).toBe('RATE_LIMITED')
  const refused = await checkOut(11, stranger)
  expect([refused.statusCode, refused.json().errors[0].limit]).toEqual([429, 60])
  expect(refused.headers['retry-after']).toBe('60')
  // At once as well.
  const answers = await Promise.all(Array.from({ length: 8 }, () => heldBy(5, stranger)))
  expect(answers.filter((answer) => answer === 'held')).toHaveLength(2)
  // Another key of the same channel, and the same /64, are no way around it.
  const other = await publishableHeaders(sale, { origins: ['https://other.example'] })
  expect(await heldBy(1, from('192.0.2.1', other))).toBe('RATE_LIMITED')
  expect(await heldBy(50, from('2001:db8::1'))).toBe('held')
  expect(await heldBy(50, from('2001:db8::2'))).toBe('RATE_LIMITED')
  expect(await heldBy(50, from('192.0.2.2'))).toBe('held')
  expect(await heldBy(50, sale.channel)).toBe('held')
  // Paid and cancelled tickets are held no more.
  await openPageBuyer(sale).pay(first)
  expect(await heldBy(50, stranger)).toBe('held')
  expect(await heldBy(1, stranger)).toBe('RATE_LIMITED')
})

test('free places count for hours, beside the unpaid ones, even if they are given back', async () => {
  const clock = mockClock()
  try {
    const stranger = from('192.0.2.3')
    const repeated = { ...stranger, 'idempotency-key': 'free' }
    const taken = async (places: number) => heldBy(places, stranger, freely(places))
    const first = (await checkOut(40, repeated, freely(40))).json<{ data: Checkout }>().data
    expect(await openPageBuyer(sale).statusesOf(first)).toContain('paid')
    expect(await heldBy(40, repeated, freely(40))).toBe('RATE_LIMITED')
    // At once as well.
    const answers = await Promise.all(Array.from({ length: 6 }, () => taken(5)))
    expect(answers.filter((answer) => answer === 'held')).toHaveLength(4)
    const [ticket] = await sale.db.select().from(tickets).where(eq(tickets.paymentId, first.payment_id))
    const cancel = `mutation { cancelTickets(input: { of: { paymentId: "${ticket?.paymentId}" } }) { __typename } }`
    expect((await sale.graphql(cancel, {}, sale.integration.v2)).errors).toBeUndefined()
    expect(await heldBy(1, stranger)).toBe('RATE_LIMITED')
    const refused = await checkOut(1, stranger, freely(1))
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(4.9 * 3600)
    expect(await heldBy(50, from('192.0.2.4'), freely(50))).toBe('held')
    expect(await heldBy(50, sale.channel, freely(50))).toBe('held')
    clock.advance(4.9 * 3_600_000)
    expect(await taken(1)).toBe('RATE_LIMITED')
    clock.advance(0.2 * 3_600_000)
    expect(await heldBy(50, stranger)).toBe('held')
    // What is unpaid counts until it is paid, cancelled or expired: 50 of 60.
    expect(await taken(11)).toBe('RATE_LIMITED')
    expect(await taken(10)).toBe('held')
    const answer = await checkOut(1, stranger, freely(1))
    expect(answer.headers['retry-after']).toBe('60')
    const more = await checkOut(61, from('192.0.2.5'))
    expect(more.headers['retry-after'] ?? '60').toBe('60')
  } finally {
    clock.restore()
  }
})

test('a cancelled checkout, a refused one and a repeated one hold nothing', async () => {
  const stranger = from('192.0.2.9')
  const repeated = { ...stranger, 'idempotency-key': 'once' }
  const made = (await checkOut(40, repeated)).json<{ data: Checkout }>().data
  for (let times = 0; times < 2; times++) expect(await heldBy(40, repeated)).toBe('RATE_LIMITED')
  expect(await heldBy(15, stranger, { discount_code: 'NONE' })).toBe('DISCOUNT_UNKNOWN discount_code')
  expect(await heldBy(20, stranger)).toBe('held')
  await cancelPayment(sale, made.payment_id)
  expect(await heldBy(40, stranger)).toBe('held')
})

test('fifty unknown discount codes in a minute, and no code of that address is looked up', async () => {
  const stranger = from('192.0.2.1')
  const quote = async (code: string, headers = stranger) => {
    const query = `{ quoteCheckout(${quoted(`, discountCode: "${code}"`)}) { __typename ${outcome} } }`
    const { data, errors } = await sale.graphql<{
      quoteCheckout: { __typename: string; errors?: { code: string }[] }
    }>(query, {}, headers)
    const { quoteCheckout } = data ?? {}
    return errors?.[0]?.extensions?.code ?? quoteCheckout?.errors?.[0]?.code ?? quoteCheckout?.__typename
  }
  // Right ones count nothing.
  for (let times = 0; times < 55; times++) expect(await quote('SECRET')).toBe('CheckoutQuote')
  const guesses = await Promise.all(Array.from({ length: 60 }, (_, index) => quote(`GUESS${index}`)))
  expect(guesses.filter((code) => code === 'DISCOUNT_UNKNOWN')).toHaveLength(50)
  expect(new Set(guesses)).toEqual(new Set(['DISCOUNT_UNKNOWN', 'RATE_LIMITED']))
  expect(await quote('SECRET')).toBe('RATE_LIMITED')
  expect(await heldBy(1, stranger, { discount_code: 'SECRET' })).toBe('RATE_LIMITED')
  // Without a code, from another address, and by the channel everything is as ever.
  expect(await heldBy(1, stranger)).toBe('held')
  expect(await quote('SECRET', from('192.0.2.2'))).toBe('CheckoutQuote')
  for (let times = 0; times < 60; times++) expect(await quote('NONE', sale.channel)).toBe('DISCOUNT_UNKNOWN')
})

test('what an operation of a page costs counts among the requests of its second', async () => {
  const limited = await openSale({ rates: [aRateOf(467)], settings: { PUBLISHABLE_RATE_LIMIT: '50' } })
  onTestFinished(() => limited.close())
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000_000 })
  onTestFinished(() => void vi.useRealTimers())
  const publishable = await publishableHeaders(limited)
  const nextSecond = () => vi.setSystemTime(Date.now() + 1_000)
  const rates = 'ticketRates { id name prices { id } supplements { id } questions { id } }'
  const pageOf = (id: number) => ({ query: `{ events(first: 100) { nodes { n${id}: id ${rates} } } }` })
  type Asked = { query: string } | string
  const ask = async (asked: Asked, headers = publishable) =>
    typeof asked === 'string'
      ? limited.rest('GET', asked, { headers })
      : limited.rest('POST', '/graphql', { headers, body: asked })
  const forms: [string, (id: number) => Asked][] = [
    ['a page', pageOf],
    ['by GET', (id) => `/graphql?query=${encodeURIComponent(pageOf(id).query)}`],
    ['over REST', (id) => `/events?limit=100&populate=*&offset=${id}`],
    ['a small one', (id) => ({ query: `{ event(by: { id: "${id}" }) { id } }` })],
  ]
  for (const [what, asked] of forms) {
    nextSecond()
    const first = await ask(asked(0))
    const cost = Number(first.headers['x-operation-cost'] ?? 65_000)
    nextSecond()
    const answers = await Promise.all(Array.from({ length: 60 }, (_, id) => ask(asked(id))))
    const served = answers.filter(({ statusCode }) => statusCode === 200)
    expect(served.length, what).toBe(Math.ceil(50 / Math.ceil(cost / 3_000)))
    const refused = answers.find(({ statusCode }) => statusCode === 429)
    expect(refused?.headers['retry-after'], what).toBe('1')
    expect(refused?.body, what).toContain('RATE_LIMITED')
    expect(refused?.body, what).toContain('"limit":50')
  }
})
