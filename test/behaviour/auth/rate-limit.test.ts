// Runs in: postgres

import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { graphqlRefusal, refusal } from '../../support/refusals.ts'
import { openSale, sharedSale } from '../../support/sale.ts'

const sale = sharedSale({ settings: { RATE_LIMIT: '2' } })
// Frozen time: a window lasts as long as its test, however slow this machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

type Headers = Record<string, string>

const list = (headers: Headers) => sale.rest('GET', '/events', { headers })
const ask = (headers: Headers) =>
  sale.rest('POST', '/graphql', { headers, body: { query: '{ events { nodes { id } } }' } })

/** Sends four requests, each in its own turn of the event loop as sockets do, and returns those that got a
 *  429. */
async function burst(call: typeof list, headers: Headers) {
  const answers: ReturnType<typeof list>[] = []
  for (let count = 0; count < 4; count++) {
    answers.push(call(headers))
    await setImmediate()
  }
  return (await Promise.all(answers)).filter(({ statusCode }) => statusCode === 429)
}

test.each([
  ['REST', list, refusal],
  ['GraphQL', ask, graphqlRefusal],
] as const)('a key over its limit gets 429 and Retry-After over %s', async (_surface, call, said) => {
  const headers = await channelHeaders(sale.db)
  // Caches the events.
  await call(await channelHeaders(sale.db))
  sale.statements.reset()
  const refused = await burst(call, headers)
  expect(refused.map(said)).toEqual(Array(2).fill('429 RATE_LIMITED'))
  for (const answer of refused) {
    expect(answer.headers['retry-after']).toBe('1')
    expect(JSON.stringify(answer.json().errors)).toMatch(/"limit":2,"retry_?after":1/i)
  }
  // Two reads of events, and their authentication in one statement each or one for both; none for the refused.
  const keyReads = sale.statements.filter((text) => text.includes('from "keys"')).length
  expect(sale.statements).toHaveLength(2 + keyReads)
  expect([1, 2]).toContain(keyReads)
})

test('two keys of one channel and both methods of an integration have separate limits', async () => {
  const { v1, v2 } = await integrationHeaders(sale.db)
  for (const headers of [await channelHeaders(sale.db), await channelHeaders(sale.db), v1, v2])
    expect(await burst(list, headers)).toHaveLength(2)
})

test('an integration id with a guessed secret does not use up the limit of the integration', async () => {
  const { v1 } = await integrationHeaders(sale.db)
  expect(await burst(list, { ...v1, secret: 'guessed' })).toHaveLength(2)
  expect(await burst(list, v1)).toHaveLength(2)
})

test('requests without valid credentials share the limit of their address', async () => {
  const refused = await burst(list, {})
  expect(refused).toHaveLength(2)
  expect((await list({ 'x-api-key': 'malformed' })).statusCode).toBe(429)
})

let addresses = 0
test.each([
  ['an unknown path', 'GET', '/nothing'],
  ['an unknown path below a known one', 'GET', '/events/a/b'],
  ['an unknown path of GraphQL', 'POST', '/graphql/nothing'],
  ['an unknown file', 'GET', '/docs/static/nothing'],
  ['a method that a path lacks', 'PUT', '/events'],
  ['a method that GraphQL lacks', 'DELETE', '/graphql'],
  ['OPTIONS that is no preflight', 'OPTIONS', '/events'],
  ['a malformed path', 'GET', '/%zz'],
  ['a malformed query', 'GET', '/events?limit=%zz'],
  ['a malformed identifier', 'GET', `/payments/${'x'.repeat(300)}`],
  ['no path', 'GET', '*'],
] as const)('%s counts against the limit of its address, and of its key', async (_what, method, url) => {
  const remoteAddress = `198.51.100.${++addresses}`
  for (const headers of [{}, await channelHeaders(sale.db)]) {
    const refused = await burst(
      (headers) => sale.app.inject({ method, url, headers, remoteAddress }),
      headers,
    )
    expect(refused.map((answer) => answer.headers['retry-after'])).toEqual(['1', '1'])
    expect(JSON.stringify(refused[0]?.json())).toContain('RATE_LIMITED')
  }
})

test('/health and /ready have no rate limit', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => sale.rest('GET', index % 2 ? '/health' : '/ready')),
  )
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200))
})

test('a response from the cache counts against the limit', async () => {
  const cached = await openSale({ settings: { RATE_LIMIT: '2', SHARED_READS_MS: '60000' } })
  const statuses: number[] = []
  for (let count = 0; count < 3; count++)
    statuses.push((await cached.rest('GET', '/events', { headers: cached.channel })).statusCode)
  await cached.close()
  expect(statuses).toEqual([200, 200, 429])
})
