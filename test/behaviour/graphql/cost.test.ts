import { expect, onTestFinished, test, vi } from 'vitest'
import { TrialCache } from '../../../src/engine/cache/trial-cache.ts'
import { PreparedDocument } from '../../../src/engine/graphql-server/prepared-document.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { publishableHeaders } from '../../support/modes.ts'
import { openSale, sharedSale } from '../../support/sale.ts'

// Cost of operations and of documents, as clients are told it.

const sale = sharedSale({ settings: { CORS_ORIGINS: 'https://shop.example', SHARED_READS_MS: '60000' } })

const times = (count: number, textAt: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => textAt(index)).join(' ')

type Headers = Record<string, string>
const post = (query: string, variables: Record<string, unknown> = {}, headers: Headers = sale.channel) =>
  sale.rest('POST', '/graphql', { headers, body: { query, variables } })

const list = 'query ($first: Int!) { events(first: $first) { nodes { id } } }'

test('each answer tells what its operation costs, also known, shared and refused ones', async () => {
  const costOf = async (first: number, headers?: Headers) => {
    const answer = await post(list, { first }, headers)
    return Number(answer.headers['x-operation-cost'])
  }
  const cost = await costOf(10)
  expect(cost).toBeGreaterThan(5_000)
  // The same operation; a shared answer; another value of the variable; one of another kind.
  expect(await costOf(10)).toBe(cost)
  expect(await costOf(20)).toBeGreaterThan(cost)
  const viewer = await post('{ viewer { kind } }')
  expect(Number(viewer.headers['x-operation-cost'])).toBeLessThan(cost)
  const refused = await post(
    `{ ${times(30, (index) => `a${index}: events(filter: { search: "${index}" }) { totalCount }`)} }`,
  )
  expect(refused.json().errors[0].message).toContain(`complexity ${refused.headers['x-operation-cost']} of`)
})

test('pages may read the cost', async () => {
  const { headers } = await post(list, { first: 1 }, { ...sale.channel, origin: 'https://shop.example' })
  expect(headers['access-control-expose-headers']).toContain('x-operation-cost')
})

const tooExpensive = `{ ${times(30, (index) => `a${index}: events(filter: { search: "${index}" }) { totalCount }`)} }`
const tooDeep = `{ events { nodes { ${'ticketRates { event { '.repeat(4)} id ${'} }'.repeat(4)} } } }`

test.each([
  ['is too expensive', tooExpensive],
  ['is too deep', tooDeep],
  ['has too many aliases', `{ ${times(31, (index) => `a${index}: viewer { kind }`)} }`],
  ['has too many tokens', `{ ${times(2_000, () => '__typename')} }`],
])('an operation that %s is 400 as application/graphql-response+json', async (_what, query) => {
  const accept = (type: string) => post(query, {}, { ...sale.channel, accept: type })
  const refused = await accept('application/graphql-response+json')
  expect(refused.statusCode).toBe(400)
  expect(Object.keys(refused.json())).toEqual(['errors'])
  expect(refused.json().errors[0].extensions).toMatchObject({ code: 'QUERY_TOO_COMPLEX' })
  expect(refused.json().errors[0].extensions).not.toHaveProperty('http')
  // As JSON, which other servers between may answer too, the status says nothing.
  expect((await accept('application/json')).statusCode).toBe(200)
})

test('work for strangers has a budget of time for each address; that for callers has none', async () => {
  const limited = await openSale({ settings: { RATE_LIMIT: '100000' } })
  onTestFinished(() => limited.close())
  const ask = (number: number, remoteAddress: string, headers: Headers = {}) =>
    limited.app.inject({
      ...{ method: 'POST', url: '/graphql', remoteAddress, headers },
      payload: { query: `query Q${number} { ${times(90, () => 'viewer { kind }')} }` },
    })
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const clock = mockClock({ isFrozen: true })
  onTestFinished(clock.restore)
  // Frozen time, in which each new document takes 25 ms: however fast or slow this machine is.
  const { set } = TrialCache.prototype
  const kept = vi.spyOn(TrialCache.prototype, 'set').mockImplementation(function (
    this: TrialCache<object>,
    ...entry
  ) {
    clock.advance(25)
    set.apply(this, entry)
  })
  onTestFinished(() => kept.mockRestore())
  let number = 0
  let refused = await ask(0, '192.0.2.1')
  while (refused.statusCode === 200 && number < 100) refused = await ask(++number, '192.0.2.1')
  // The twentieth has used up the budget once it is checked, and is not executed.
  expect(number).toBe(19)
  expect(refused.statusCode).toBe(429)
  expect(refused.json().errors[0].extensions).toMatchObject({ code: 'RATE_LIMITED', limit: 500 })
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(10)
  const publishable = await publishableHeaders(limited)
  await ask(0, '192.0.2.3', publishable)
  const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).statusCode
  expect([
    // What is known, without a key; another address; keys that nobody has.
    await statusOf(0, '192.0.2.1'),
    await statusOf(9_001, '192.0.2.2'),
    await statusOf(0, '192.0.2.1', { 'x-api-key': 'box_pub_x' }),
    // A publishable key, with what is known and what is new.
    await statusOf(0, '192.0.2.1', publishable),
    await statusOf(9_002, '192.0.2.1', publishable),
    // Callers whom this process has not seen before.
    await statusOf(9_003, '192.0.2.1', limited.channel),
    await statusOf(9_004, '192.0.2.1', limited.integration.v1),
  ]).toEqual([429, 200, 429, 200, 429, 200, 200])
})

test.each([
  ['a document that is not valid', { query: '{ nothing }' }],
  [
    'variables that are not valid',
    { query: 'query ($id: ID!) { __typename ticket(id: $id) { id } }', variables: { id: {} } },
  ],
  [
    'a question about the schema, by a variable',
    { query: 'query ($n: String!) { __type(name: $n) { name } }', variables: { n: 'Event' } },
  ],
  ['a body that is no JSON', '{"query": '],
  [
    'a body that is too wide',
    {
      query: '{ __typename }',
      variables: Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`v${index}`, 1])),
    },
  ],
])('%s counts each time it is sent', async (_what, payload) => {
  const limited = await openSale({ settings: { RATE_LIMIT: '100000' } })
  onTestFinished(() => limited.close())
  const send = async () => {
    const headers = { 'content-type': 'application/json' }
    return (await limited.app.inject({ method: 'POST', url: '/graphql', headers, payload })).statusCode
  }
  const first = await send()
  // Each look at the clock takes 30 ms, and so does all between two of them.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 30))
  onTestFinished(() => clock.mockRestore())
  const statuses: number[] = []
  for (let time = 0; time < 20 && !statuses.includes(429); time++) statuses.push(await send())
  expect(statuses.slice(0, -1)).toEqual(Array(statuses.length - 1).fill(first))
  expect(statuses.at(-1)).toBe(429)
})

test('the schema is described from memory, and what needs a caller is refused by each field', async () => {
  const spied = vi.spyOn(PreparedDocument.prototype, 'operationOf')
  onTestFinished(() => spied.mockRestore())
  const query = 'query Q { __schema { queryType { name } } a: __type(name: "Event") { name } }'
  const answers = []
  for (let time = 0; time < 3; time++) answers.push(await post(query, {}, {}))
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
  expect(answers[0]?.json()).toEqual({
    data: { __schema: { queryType: { name: 'Query' } }, a: { name: 'Event' } },
  })
  // Of the first alone, by whoever is asked for it.
  const asked = spied.mock.calls.length
  expect((await post(query)).body).toBe(answers[0]?.body)
  expect(spied.mock.calls.length).toBe(asked)
  const refused = await post(
    'mutation ($i: CheckoutInput!) { a: checkout(input: $i) { __typename } b: cancelPayment(input: { paymentId: "x" }) { __typename } }',
    { i: { items: [], idempotencyKey: 'once' } },
    {},
  )
  expect(refused.statusCode).toBe(200)
  expect(refused.json()).toMatchObject({
    data: { a: null, b: null },
    errors: [
      { path: ['a'], locations: [{ line: 1, column: 33 }], extensions: { code: 'UNAUTHENTICATED' } },
      { path: ['b'], extensions: { code: 'UNAUTHENTICATED' } },
    ],
  })
})
