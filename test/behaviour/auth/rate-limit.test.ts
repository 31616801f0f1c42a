import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { aCatalogue, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { graphqlRefusal, refusal } from '../../support/refusals.ts'
import { openSale, type Sale } from '../../support/sale.ts'

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue(), { settings: { RATE_LIMIT: '2' } })
})
afterAll(() => sale.close())
// A second lasts as long as a test, however slow this machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

type Headers = Record<string, string>

const list = (headers: Headers) => sale.rest('GET', '/events', { headers })
const ask = (headers: Headers) =>
  sale.rest('POST', '/graphql', { headers, body: { query: '{ events { nodes { id } } }' } })

/** Four requests at once, each in a turn of its own as from sockets, and what is said to those that are too many. */
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
] as const)(
  'over %s a key has its requests a second, and is told when to come again',
  async (_surface, call, said) => {
    const headers = await channelHeaders(sale.db)
    // So that what is listed is remembered.
    await call(await channelHeaders(sale.db))
    sale.statements.reset()
    const refused = await burst(call, headers)
    expect(refused.map(said)).toEqual(Array(2).fill('429 RATE_LIMITED'))
    for (const answer of refused) {
      expect(answer.headers['retry-after']).toBe('1')
      expect(JSON.stringify(answer.json().errors)).toMatch(/"limit":2,"retry_?after":1/i)
    }
    // A list for each of the two that were let in, by a statement each or one for both; none for the others.
    const lets = sale.statements.filter((text) => text.includes('from "keys"')).length
    expect(sale.statements).toHaveLength(2 + lets)
    expect([1, 2]).toContain(lets)
  },
)

test('two keys have a limit each, of one channel too, and so have both methods of an integration', async () => {
  const { v1, v2 } = await integrationHeaders(sale.db)
  for (const headers of [await channelHeaders(sale.db), await channelHeaders(sale.db), v1, v2])
    expect(await burst(list, headers)).toHaveLength(2)
})

test('who does not know the whole of a key can not use up its limit', async () => {
  const { v1 } = await integrationHeaders(sale.db)
  expect(await burst(list, { ...v1, secret: 'guessed' })).toHaveLength(2)
  expect(await burst(list, v1)).toHaveLength(2)
})

test('without good credentials the limit is that of the address', async () => {
  const refused = await burst(list, {})
  expect(refused).toHaveLength(2)
  expect((await list({ 'x-api-key': 'malformed' })).statusCode).toBe(429)
})

test('whether the process runs can always be asked', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => sale.rest('GET', index % 2 ? '/health' : '/ready')),
  )
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200))
})

test('an answer from memory counts too', async () => {
  const remembering = await openSale(aCatalogue(), {
    settings: { RATE_LIMIT: '2', SHARED_READS_MS: '60000' },
  })
  const statuses: number[] = []
  for (let count = 0; count < 3; count++)
    statuses.push((await remembering.rest('GET', '/events', { headers: remembering.channel })).statusCode)
  await remembering.close()
  expect(statuses).toEqual([200, 200, 429])
})
