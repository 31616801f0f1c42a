import { beforeAll, expect, test } from 'vitest'
import { yogaPlugins } from '../../../src/engine/graphql-server/execute.ts'
import { aRateOf } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Operations run compiled, without Yoga; no client may see a difference.

let ticketId: string
const sale = sharedSale({ rates: [aRateOf(100)], settings: { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' } })
beforeAll(async () => {
  const { tickets } = await holdTickets(sale)
  ticketId = tickets[0]?._id ?? ''
})

type Asked = { variables?: object; headers?: Record<string, string>; operationName?: string }
const ask = (query: string, { variables, headers, operationName }: Asked = {}) =>
  sale.rest('POST', '/graphql', {
    headers: { ...sale.channel, ...headers },
    body: { query, variables, operationName },
  })

/** Asks through Yoga, as where there are further plugins. */
async function askYoga(...asked: Parameters<typeof ask>) {
  yogaPlugins.push({})
  try {
    return await ask(...asked)
  } finally {
    yogaPlugins.pop()
  }
}
const ways = [
  ['compiled', ask],
  ['through Yoga', askYoga],
] as const

/** Drops the headers that differ between requests. */
function seen({ statusCode, headers, body }: Awaited<ReturnType<typeof ask>>) {
  const { date: _date, 'x-request-id': _id, ...others } = headers
  return { statusCode, headers: others, body: body.replaceAll(/"request_id":"[^"]*"/g, '') }
}

// Makes each document another one, because answers may come from the cache.
let asking = 1_000

const ticketQuery = 'query One($id: ID!) { ticket(id: $id) { id status event { name } } }'
const several = 'query A { __typename } query B { events { nodes { id } } }'
const refusedCheckout = `mutation { checkout(input: { items: [{ ticketRateId: "rate_1", tickets: [] }], idempotencyKey: "once" }) { __typename
  ... on Refused { errors { code message path } } } }`

test.each<[what: string, query: string, asked?: (id: string) => Asked]>([
  ['a ticket', ticketQuery, (id) => ({ variables: { id } })],
  ['a ticket that there is not', ticketQuery, () => ({ variables: { id: 'tkt_none' } })],
  ['no variables', ticketQuery],
  ['a variable of another type', ticketQuery, () => ({ variables: { id: [{}] } })],
  ['a variable too many', ticketQuery, (id) => ({ variables: { id, more: 1 } })],
  ['a named operation', several, () => ({ operationName: 'B' })],
  ['an operation that there is not', several, () => ({ operationName: 'C' })],
  ['an empty name', several, () => ({ operationName: '' })],
  ['the name of an only operation', ticketQuery, (id) => ({ variables: { id }, operationName: 'One' })],
  ['another name of an only operation', ticketQuery, (id) => ({ variables: { id }, operationName: 'Two' })],
  ['several operations and no name', several],
  ['a fragment', '{ events { nodes { ...E } } } fragment E on Event { id ticketRates { name } }'],
  ['introspection', '{ __schema { queryType { name } } }'],
  ['an unknown field', '{ events { nodes { nothing } } }'],
  ['a syntax error', '{ events { nodes { id }'],
  ['no operation', 'fragment E on Event { id }'],
  ['a subscription', 'subscription { ticketRates(of: { ids: ["rate_1"] }) { status } }'],
  [
    'a field that fails',
    '{ events { nodes { id } } changes(from: { at: OLDEST }, first: 0) { nodes { id } } }',
  ],
  ['a refusal as data', refusedCheckout],
  ['a scope that is missing', 'mutation { cancelTickets(input: { of: { ticketId: "x" } }) { __typename } }'],
])('Yoga answers the same: %s', async (_what, query, asked) => {
  for (const caller of [sale.channel, sale.integration.v2, {}])
    for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
      const given = { ...asked?.(ticketId), headers: { accept, ...caller } }
      const request = () =>
        sale.rest('POST', '/graphql', {
          headers: given.headers,
          body: { ...given, headers: undefined, query: `${query} # ${asking++}` },
        })
      const compiled = seen(await request())
      yogaPlugins.push({})
      const expected = seen(await request().finally(() => yogaPlugins.pop()))
      expect(compiled, JSON.stringify(given)).toEqual(expected)
    }
})

test.each([
  'application/json',
  'application/graphql-response+json',
  '*/*',
  'text/html, application/json;q=0.9',
])('a repeated operation has the same response as %s', async (accept) => {
  const query = 'query ($id: ID!) { ticket(id: $id) { id status event { name } } }'
  const answers = []
  for (const [, ask] of [...ways, ...ways])
    answers.push(seen(await ask(query, { variables: { id: ticketId }, headers: { accept } })))
  expect(answers[0]?.statusCode).toBe(200)
  expect(answers[0]?.headers['content-type']).toMatch(/^application\/.*json; charset=utf-8$/)
  for (const answer of answers) expect(answer).toEqual(answers[0])
})

test('a repeated operation in a media type not served is 406', async () => {
  const query = 'query Form($id: ID!) { ticket(id: $id) { id } }'
  for (const [accept, status] of [
    ['application/json', 200],
    ['image/png', 406],
    ['application/json', 200],
    ['image/png', 406],
  ] as const)
    expect((await ask(query, { variables: { id: ticketId }, headers: { accept } })).statusCode).toBe(status)
})

test('a repeated document runs the operation that is named', async () => {
  const query = 'query A { __typename } query B { events { nodes { id } } }'
  for (const [, ask] of ways) {
    expect((await ask(query, { operationName: 'A' })).json().data).toEqual({ __typename: 'Query' })
    expect((await ask(query, { operationName: 'B' })).json().data.events.nodes).toHaveLength(1)
    for (const operationName of [undefined, '', 'C', 'null'])
      expect((await ask(query, { operationName })).json().errors, operationName).toHaveLength(1)
  }
})

test('a repeated operation reports invalid variables each time', async () => {
  const query = 'query GivenId($id: ID!) { ticket(id: $id) { id } }'
  const extensionsFor = async (variables: object) =>
    (await ask(query, { variables })).json().errors?.[0].extensions
  expect(await extensionsFor({ id: ticketId })).toBeUndefined()
  for (let time = 0; time < 2; time++) {
    expect(await extensionsFor({})).toMatchObject({ code: 'BAD_REQUEST', path: 'id' })
    expect(await extensionsFor({ id: {} })).toMatchObject({ code: 'BAD_REQUEST', path: 'id' })
  }
})

test('a repeated operation authenticates each time', async () => {
  const query = 'query Who($id: ID!) { ticket(id: $id) { id } }'
  const variables = { id: ticketId }
  expect((await ask(query, { variables })).json().data.ticket.id).toBe(ticketId)
  const answer = await sale.rest('POST', '/graphql', { body: { query, variables } })
  expect(answer.json()).toMatchObject({ data: { ticket: null } })
  expect(answer.json().errors[0].extensions.code).toBe('UNAUTHENTICATED')
})

const codeOf = async (query: string, variables: object) =>
  (await ask(query, { variables })).json().errors?.[0].extensions.code

test.each([
  ['sets the page size', 'query ($n: Int!) { events(first: $n) { ...All } }', { n: 1 }, { n: 100 }],
  [
    'includes a field',
    'query ($yes: Boolean!) { __typename events(first: 100) @include(if: $yes) { ...All } }',
    { yes: false },
    { yes: true },
  ],
  [
    'does not skip a fragment',
    'query ($no: Boolean!) { events(first: 100) { nodes { id } ...All @skip(if: $no) } }',
    { no: true },
    { no: false },
  ],
])('a repeated operation is refused as too complex if a variable %s', async (_what, query, little, much) => {
  const rate = 'event { ticketRates { prices { id name price { amount currency } includes } } }'
  const document = `${query} fragment All on EventConnection { nodes { ticketRates { a: ${rate} b: ${rate} c: ${rate} } } }`
  for (let time = 0; time < 2; time++) expect(await codeOf(document, little)).toBeUndefined()
  for (let time = 0; time < 2; time++) expect(await codeOf(document, much)).toBe('QUERY_TOO_COMPLEX')
  expect(await codeOf(document, little)).toBeUndefined()
})

test('a repeated mutation that fails in part runs once and reports its error', async () => {
  const query = `mutation ($url: String!, $ticket: ID!) {
    registerWebhook(input: { url: $url, idempotencyKey: "once" }) { __typename } returnTicket(input: { ticketId: $ticket }) { __typename } }`
  const variables = { url: 'http://127.0.0.1:9/hook', ticket: ticketId }
  expect((await ask(query, { variables })).json().errors).toBeUndefined()
  // An integration may register webhooks but not request refunds.
  const door = sale.integration.v2
  const { data, errors } = (await ask(query, { variables, headers: door })).json()
  expect(data).toEqual({ registerWebhook: { __typename: 'RegisterWebhookPayload' }, returnTicket: null })
  expect(errors).toMatchObject([{ path: ['returnTicket'], extensions: { code: 'FORBIDDEN' } }])
  expect((await ask('{ webhooks { url } }', { headers: door })).json().data.webhooks).toHaveLength(1)
})

test.each(ways)('a mutation that fails leaves the results of those around it, %s', async (_way, ask) => {
  const door = sale.integration.v2
  const scan = (name: string, alias: string) =>
    `${alias}: checkInTicket(input: { ticket: { qrCode: "none" }, eventId: "evt_1", idempotencyKey: "${name} ${alias}" }) {
      ... on CheckInTicketPayload { checkIn { outcome } } }`
  const query = `mutation { ${scan(_way, 'a')} b: returnTicket(input: { ticketId: "${ticketId}" }) { __typename } ${scan(_way, 'c')} }`
  const { statusCode, body } = await ask(query, { headers: door })
  const { data, errors } = JSON.parse(body)
  expect(statusCode).toBe(200)
  const found = { checkIn: { outcome: 'NOT_FOUND' } }
  expect(data).toEqual({ a: found, b: null, c: found })
  expect(errors).toMatchObject([{ path: ['b'], extensions: { code: 'FORBIDDEN' } }])
})
