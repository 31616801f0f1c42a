import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anything, changed, entry, json, number, runs, soldForever, text } from './anything.ts'
import { camelCase } from './checkouts.ts'
import { documentedErrors } from './refusals.ts'
import { openSale, type Sale } from './sale.ts'

let sale: Sale
beforeAll(async () => {
  sale = await openSale(soldForever())
})
afterAll(() => sale.close())

type Answer = {
  data?: Record<string, { __typename?: string } | null> | null
  errors?: { extensions: { code: string } }[]
}

/** What is answered, by no fault of ours; where it is an error alone, as every other. */
async function ask(body: unknown): Promise<Answer> {
  const headers = { ...sale.channel, accept: 'application/json', 'content-type': 'application/json' }
  const answer = await sale.rest('POST', '/graphql', { headers, body: JSON.stringify(body) })
  expect(answer.statusCode).toBeLessThan(500)
  const { data, errors } = answer.json<Answer>()
  expect(errors?.map(({ extensions }) => extensions.code) ?? []).not.toContain('INTERNAL')
  if (errors && Object.values(data ?? {}).every((field) => field === null)) documentedErrors(answer)
  return { data, errors }
}

/** Asks any of these, and tells which words the answers were met with. */
async function askAny<T>(
  any: fc.Arbitrary<T>,
  bodyOf: (one: T) => unknown,
  word: (answer: Answer) => string,
) {
  const words = new Set<string>()
  await fc.assert(
    fc.asyncProperty(any, async (one) => void words.add(word(await ask(bodyOf(one))))),
    runs,
  )
  return [...words].sort()
}

const isRefused = ({ errors }: Answer) => (errors ? 'refused' : 'answered')

const events = `query ($organizationId: ID, $locationId: ID, $startDate: DateTime, $endDate: DateTime, $search: String,
  $lat: Float = 0, $lng: Float = 0, $radius: Float = 5, $first: Int! = 5, $after: ID, $id: ID = "x") {
  events(organizationId: $organizationId, locationId: $locationId, startDate: $startDate, endDate: $endDate,
    search: $search, near: { lat: $lat, lng: $lng, radius: $radius }, first: $first, after: $after) {
    totalCount nodes { id } }
  node(id: $id) { id } ticket(id: $id) { id } }`

const texts = 'organizationId locationId startDate endDate search after id'.split(' ')
const numbers = 'lat lng radius first'.split(' ')
const cursor = fc
  .tuple(fc.maxSafeInteger(), text)
  .map(([date, id]) => Buffer.from(`${date} ${id}`).toString('base64url'))
const variables = fc.oneof(
  fc.tuple(fc.constantFrom(...texts), text).map(([name, value]) => ({ [name]: value })),
  fc.tuple(fc.constantFrom(...numbers), number).map(([name, value]) => ({ [name]: value })),
  fc.tuple(fc.constantFrom(...texts, ...numbers), anything).map(([name, value]) => ({ [name]: value })),
  fc.record({ lat: fc.double({ min: -90, max: 90 }), lng: fc.double({ min: -180, max: 180 }) }),
  cursor.map((after) => ({ after })),
)

test('no variables of a query make it fail', async () => {
  const words = await askAny(variables, (variables) => ({ query: events, variables }), isRefused)
  expect(words).toEqual(['answered', 'refused'])
})

const checkout = `mutation ($input: CheckoutInput!) { checkout(input: $input) {
  __typename ... on CheckoutRefused { errors { code path message } } } }`
const right = {
  ticketRateId: 'rate_1',
  tickets: [{ priceId: 'price_1', fullName: 'Ana', email: 'ana@example.com' }],
}
const input = fc.oneof(
  json,
  entry.map((entry) => ({ ...right, tickets: [camelCase(entry)] })),
  changed(right, 'redirectUrl', 'errorUrl', 'metadata', 'idempotencyKey', 'expectedTotal'),
  fc.dictionary(text, anything).map((metadata) => ({ ...right, metadata })),
)

test('no variables of a checkout make it fail', async () => {
  const words = await askAny(
    input,
    (input) => ({ query: checkout, variables: { input } }),
    ({ data }) => data?.checkout?.__typename ?? 'none',
  )
  expect(words).toEqual(['CheckoutPayload', 'CheckoutRefused', 'none'])
})

const tokens =
  '{ } ( ) events nodes id ... on Event fragment query $a : "x" """ @skip ! [ 1e400 \ud83c \0'.split(' ')
const document = fc.oneof(
  text,
  fc.array(fc.constantFrom(...tokens), { maxLength: 20 }).map((tokens) => tokens.join(' ')),
)

test('no document and no body makes it fail', async () => {
  const body = fc.oneof(
    json,
    document.map((query) => ({ query })),
    changed({ query: '{ __typename }' }, 'variables', 'operationName', 'extensions'),
  )
  expect(await askAny(body, (body) => body, isRefused)).toEqual(['answered', 'refused'])
})
