import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { PreparedDocument } from '../../../src/graphql-server/prepared-document.ts'
import { aCatalogue } from '../../support/factories.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// Cost of operations and of documents, as clients are told it.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue(), {
    settings: { CORS_ORIGINS: 'https://shop.example', SHARED_READS_MS: '60000' },
  })
})
afterAll(() => sale.close())

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

test('new documents of strangers have a budget of time for each address; known ones and callers have not', async () => {
  const limited = await openSale(aCatalogue(), { settings: { RATE_LIMIT: '100000' } })
  onTestFinished(() => limited.close())
  const ask = (number: number, remoteAddress: string, headers: Record<string, string> = {}) =>
    limited.app.inject({
      ...{ method: 'POST', url: '/graphql', remoteAddress, headers },
      payload: { query: `query Q${number} { ${times(90, () => 'viewer { kind }')} }` },
    })
  // Frozen time, in which each new document takes 25 ms: however fast or slow this machine is.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const clock = mockClock({ isFrozen: true })
  onTestFinished(clock.restore)
  const errorsOf = Object.getOwnPropertyDescriptor(PreparedDocument.prototype, 'errors')?.get
  const validated = vi.spyOn(PreparedDocument.prototype, 'errors', 'get')
  onTestFinished(() => validated.mockRestore())
  validated.mockImplementation(function (this: PreparedDocument) {
    if (!this.isKnown) clock.advance(25)
    return errorsOf?.call(this)
  })
  let number = 0
  let refused = await ask(0, '192.0.2.1')
  while (refused.statusCode === 200 && number < 100) refused = await ask(++number, '192.0.2.1')
  expect(number).toBe(20)
  expect(refused.statusCode).toBe(429)
  expect(refused.json().errors[0].extensions).toMatchObject({ code: 'RATE_LIMITED', limit: 500 })
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(10)
  const statuses = [
    await ask(0, '192.0.2.1'),
    await ask(9_001, '192.0.2.2'),
    await ask(9_002, '192.0.2.1', { 'x-api-key': 'box_pub_x' }),
  ].map(({ statusCode }) => statusCode)
  expect(statuses).toEqual([200, 200, 429])
  // A caller who has proven who it is.
  await ask(0, '192.0.2.1', limited.channel)
  expect((await ask(9_003, '192.0.2.1', limited.channel)).statusCode).toBe(200)
})
