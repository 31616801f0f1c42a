// Runs in: postgres

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { newApiKey } from '../../../src/domain/caller/api-key.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { money, toItems } from '../../support/contract-input.ts'
import { aCatalogueOfTwo, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { graphqlRefusal, refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'
import { openSocket, readAnswer } from '../../support/sockets.ts'

// The rate of a checkout is prefetched with the authentication, by a guess at what the body asks for.

const sale = sharedSale(aCatalogueOfTwo(100), { listen: true })
beforeEach(() => sale.statements.reset())

const bodyOf = (rate: string, more: Record<string, unknown> = {}) => ({
  ...more,
  ticket_rate_id: `rate_${rate}`,
  tickets: [anEntry(`price_${rate}`, { full_name: 'Ana' })],
})
const stranger = () => ({ 'x-api-key': newApiKey('test').key })

type Headers = Record<string, string>
type Result = { result: { __typename: string; payment?: object } }

const overGraphql = (query: string, variables = {}, headers: Headers = sale.channel) =>
  sale.graphql<Result>(query, variables, headers)

const ticketsOf = (rate: string) =>
  `items: [{ ticketRateId: ${rate}, tickets: [{ priceId: "price_1", attendee: { fullName: "Ana", email: "ana@example.com" } }] }], idempotencyKey: "${crypto.randomUUID()}"`
const anInput = () => ({
  items: toItems('rate_1', [{ priceId: 'price_1', fullName: 'Ana', email: 'ana@example.com' }]),
  idempotencyKey: crypto.randomUUID(),
})
const whole = '{ __typename ... on CheckoutPayload { payment { totalAmount { amount currency } } } }'
const byVariable = `mutation ($input: CheckoutInput!) { result: checkout(input: $input) ${whole} }`

test.each<[what: string, query: string, variables: Record<string, unknown>, statements: number]>([
  ['the input as variable', byVariable, { input: anInput() }, 3],
  [
    'the input written out',
    `mutation { result: checkout(input: { ${ticketsOf('"rate_1"')} }) ${whole} }`,
    {},
    3,
  ],
  [
    'a variable for the rate',
    `mutation ($id: ID!) { result: checkout(input: { ${ticketsOf('$id')} }) ${whole} }`,
    { id: 'rate_1' },
    3,
  ],
  [
    'a default for the input',
    `mutation ($input: CheckoutInput! = { ${ticketsOf('"rate_1"')} }) {
      result: checkout(input: $input) ${whole} }`,
    {},
    4,
  ],
  [
    'another field beside it',
    `mutation ($input: CheckoutInput!) { __typename result: checkout(input: $input) ${whole} }`,
    { input: anInput() },
    4,
  ],
  [
    'a second checkout after it',
    `mutation ($input: CheckoutInput!) { result: checkout(input: $input) ${whole} b: checkout(input: $input) { __typename } }`,
    { input: anInput() },
    8,
  ],
])('a checkout over GraphQL with %s is sold', async (_what, query, variables, statements) => {
  const { data, errors } = await overGraphql(query, variables)
  expect(errors).toBeUndefined()
  expect(data?.result).toEqual({ __typename: 'CheckoutPayload', payment: { totalAmount: money(22) } })
  expect(sale.statements).toHaveLength(statements)
})

test('a quote takes one statement, and the next sees what was sold meanwhile', async () => {
  const query = `query ($input: QuoteCheckoutInput!) { result: quoteCheckout(input: $input) {
    ... on CheckoutQuote { items { ticketRate { availability { available } } } } } }`
  type Quoted = { result: { items: { ticketRate: { availability: { available: number } } }[] } }
  const quoted = { items: [{ ticketRateId: 'rate_1', tickets: [{ priceId: 'price_1' }] }] }
  const left = async () => {
    const { data } = await sale.graphql<Quoted>(query, { input: quoted }, sale.channel)
    return data?.result.items[0]?.ticketRate.availability.available ?? 0
  }
  const before = await left()
  expect(sale.statements).toHaveLength(1)
  await checkOut(sale, bodyOf('1'))
  expect(await left()).toBe(before - 1)
})

test('a checkout takes its rate from its own field, whatever else the body contains', async () => {
  const metadata = { ticket_rate_id: 'rate_2', note: '"ticket_rate_id": "rate_2"' }
  const answer = await checkOut(sale, bodyOf('1', { metadata }))
  expect(answer.json().data.tickets[0]).toMatchObject({ ticket_rate_id: 'rate_1' })
  expect(sale.statements).toHaveLength(3)
})

test('a rate without a grant is answered like an absent one', async () => {
  const other = await channelHeaders(sale.db, 'org_2')
  const answers = await Promise.all([
    checkOut(sale, bodyOf('1'), other),
    checkOut(sale, bodyOf('none'), other),
    checkOut(sale, bodyOf('2'), other),
    checkOut(sale, bodyOf('1')),
  ])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 200, 200])
  const [hidden, missing] = answers.map((answer) => ({ ...answer.json(), request_id: '' }))
  expect(hidden).toEqual(missing)
})

test.each<[what: string, body: string]>([
  ['a checkout', JSON.stringify(bodyOf('1'))],
  ['a rate that does not exist', JSON.stringify(bodyOf('none'))],
  ['malformed JSON', '{"ticket_rate_id": "rate_1", '],
  ['empty', ''],
  ['larger than the body limit', JSON.stringify(bodyOf('1', { metadata: { text: 'x'.repeat(300_000) } }))],
])('a checkout by a caller without access is refused alike with a body that is %s', async (_what, body) => {
  const ask = (headers: Headers) =>
    sale.rest('POST', '/tickets/checkout', {
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
  expect(refusal(await ask(stranger()))).toBe('401 UNAUTHENTICATED x-api-key')
  const { v2 } = await integrationHeaders(sale.db, 'org_1')
  expect(refusal(await ask(v2))).toBe('403 FORBIDDEN')
})

test('a checkout by an unknown caller takes one statement on either surface', async () => {
  expect(refusal(await checkOut(sale, bodyOf('1'), stranger()))).toBe('401 UNAUTHENTICATED x-api-key')
  expect(sale.statements).toHaveLength(1)
  const asked = await sale.rest('POST', '/graphql', {
    headers: stranger(),
    body: { query: byVariable, variables: { input: anInput() } },
  })
  expect(graphqlRefusal(asked)).toBe('401 UNAUTHENTICATED x-api-key')
  expect(sale.statements).toHaveLength(2)
})

test('a failing prefetch still refuses an unknown caller with 401', async () => {
  await sale.db.execute(sql`alter table questions rename to questions_kept`)
  try {
    expect(refusal(await checkOut(sale, bodyOf('1'), stranger()))).toBe('401 UNAUTHENTICATED x-api-key')
    expect(refusal(await checkOut(sale, bodyOf('1')))).toBe('500 INTERNAL')
    const { status, data, errors } = await overGraphql(byVariable, { input: anInput() })
    expect([status, data]).toEqual([200, { result: null }])
    expect(errors).toMatchObject([{ path: ['result'], extensions: { code: 'INTERNAL' } }])
  } finally {
    await sale.db.execute(sql`alter table questions_kept rename to questions`)
  }
})

test('a checkout body in pieces is awaited, and the connection survives a refusal', async () => {
  const accepted = once(sale.app.server, 'connection')
  const socket = await openSocket(sale.url)
  const [served] = (await accepted) as [Socket]
  const requestOf = (headers: Headers, body = JSON.stringify(bodyOf('1'))) =>
    [
      'POST /tickets/checkout HTTP/1.1',
      'host: localhost',
      'content-type: application/json',
      `content-length: ${body.length}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n')
  const statusOf = async (...pieces: string[]) => {
    sale.statements.reset()
    const answer = readAnswer(socket)
    for (const piece of pieces) {
      // Each piece is read before the next is sent.
      await expect.poll(() => served.bytesRead, { interval: 5 }).toBe(socket.bytesWritten)
      socket.write(piece)
    }
    return [(await answer).split(' ')[1], sale.statements.length]
  }
  const request = requestOf(sale.channel)
  expect(await statusOf(request)).toEqual(['200', 2])
  expect(await statusOf(requestOf(stranger()))).toEqual(['401', 1])
  expect(await statusOf(request.slice(0, -30), request.slice(-30))).toEqual(['200', 3])
  const head = request.indexOf('{')
  expect(await statusOf(request.slice(0, head), request.slice(head))).toEqual(['200', 3])
  const long = JSON.stringify(bodyOf('1', { metadata: { text: 'x'.repeat(20_000) } }))
  expect(await statusOf(requestOf(stranger(), long))).toEqual(['401', 1])
  expect(await statusOf(request)).toEqual(['200', 2])
  socket.destroy()
})
