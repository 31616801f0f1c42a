import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { aCatalogue, channelHeaders } from '../support/factories.ts'
import { duringFlood, type FloodRequest } from '../support/flood/flood.ts'
import { seed } from '../support/fuzz/seed.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { corpus } from '../support/hostile/corpus.ts'
import { mustStartServer, type ServerProcess } from '../support/processes.ts'

// Others beside a flood of a stranger: one address with 20 connections and without a key. They have at most three times
// their quiet median.

const connections = 20
const maxSlower = 3
// A retry excludes chance: other work of the machine.
const tries = 4

let database: TestDatabase
let service: ServerProcess
let unlimited: ServerProcess
let channel: Record<string, string>
beforeAll(async () => {
  database = await createTestDatabase()
  const { db, close } = await database.open()
  await importCatalogue(db, aCatalogue())
  channel = await channelHeaders(db)
  await close()
  const settings = { ...database.settings, TRUST_PROXY: '1' }
  service = await mustStartServer(settings)
  unlimited = await mustStartServer({ ...settings, RATE_LIMIT: 'off' })
})
afterAll(async () => {
  await service.stop('SIGKILL')
  await unlimited.stop('SIGKILL')
  await database.drop()
})

const times = (count: number, part: (index: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, index) => part(index)).join(separator)
const post = (
  query: string,
  variables: unknown = {},
  headers: Record<string, string> = {},
): FloodRequest => ({
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ query, variables }),
})
const many = (count: number, make: (index: number) => FloodRequest) =>
  Array.from({ length: count }, (_, index) => make(index))

const entry = { priceId: 'price_1', attendee: { fullName: 'Ana', email: 'ana@example.com' } }
const checkout = 'mutation ($i: CheckoutInput!) { checkout(input: $i) { __typename } }'
const items = {
  i: {
    items: [{ ticketRateId: 'rate_1', tickets: Array.from({ length: 990 }, () => entry) }],
    idempotencyKey: 'once',
  },
}

const floods: Record<string, FloodRequest[]> = {
  'the schema under 30 aliases': [
    post(`{ ${times(30, (index) => `a${index}: __schema { types { name fields { name } } }`)} }`),
  ],
  'different questions about the schema': many(2_000, (index) =>
    post(`{ a${index}: __schema { types { name description fields { name description args { name } } } } }`),
  ),
  'the schema by variables': many(200, (index) =>
    post('query ($n: String!) { __type(name: $n) { name fields { name args { name type { name } } } } }', {
      n: `Query${' '.repeat(index)}`,
    }),
  ),
  'a checkout of 990 tickets': [post(checkout, items)],
  'a checkout of 990 tickets, beside a field for all': [
    post('mutation ($i: CheckoutInput!) { __typename checkout(input: $i) { __typename } }', items),
  ],
  'known unknown fields': [post(`{ ${times(900, (index) => `f${index}`)} }`)],
  'new unknown fields': many(500, (id) => post(`{ ${times(900, (index) => `f${id}x${index}`)} }`)),
  'large variables that nothing uses': [post('{ __typename }', { a: times(80, () => 'x'.repeat(3_000)) })],
  'large bodies that are no JSON': [{ ...post(''), body: `[${times(9_000, () => '"ä"', ',')}` }],
  'what is answered from memory': [post('{ __typename }')],
  'pages that nobody has': [{ method: 'GET', path: '/nothing' }],
  'keys that nobody has': many(500, (id) =>
    post(checkout, items, { 'x-api-key': `box_live_${String(id).padStart(50, 'a')}` }),
  ),
}

async function medianOfHealth(url: string): Promise<number> {
  const taken: number[] = []
  for (const end = performance.now() + 1_500; performance.now() < end; ) {
    const start = performance.now()
    const answer = await fetch(`${url}/health`)
    await answer.text()
    taken.push(performance.now() - start)
    await setTimeout(5)
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(taken.length / 2)] ?? 0
}

let addresses = 0

/** How many times its quiet median others' median is beside a flood from an address of its own. */
async function slowerBeside(url: string, what: string, flood: FloodRequest[]): Promise<number> {
  const address = `192.0.2.${++addresses}`
  const requests = flood.map((request) => ({
    ...request,
    headers: { ...request.headers, 'x-forwarded-for': address },
  }))
  const quiet = await medianOfHealth(url)
  const { result, answers } = await duringFlood(url, requests, connections, () => medianOfHealth(url))
  console.log(`${what}: ${quiet.toFixed(1)} → ${result.toFixed(1)} ms ${JSON.stringify(answers)}`)
  expect(Object.keys(answers).filter((answer) => answer >= '500' && !answer.startsWith('503'))).toEqual([])
  return result / quiet
}

async function expectServed(what: string, requests: FloodRequest[]): Promise<void> {
  let slower = Number.POSITIVE_INFINITY
  for (let time = 0; time < tries && slower > maxSlower; time++)
    slower = Math.min(slower, await slowerBeside(service.url, what, requests))
  expect(slower).toBeLessThan(maxSlower)
}

test.each(Object.entries(floods))('others are served beside %s', expectServed)

test('others are served beside requests that were drawn', async () => {
  const drawn = fc.sample(fc.constantFrom(...corpus), { seed, numRuns: 300 })
  await expectServed(
    'drawn',
    drawn.map(({ url, ...request }) => ({ ...request, path: url })),
  )
})

test('control: others are not served beside a key that is good, without limits', async () => {
  const flood = [post(checkout, items, channel)]
  const slower = [
    await slowerBeside(unlimited.url, 'good', flood),
    await slowerBeside(unlimited.url, 'good', flood),
  ]
  expect(Math.max(...slower)).toBeGreaterThan(maxSlower)
})
