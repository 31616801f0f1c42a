// Runs in: long, first

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hostile } from '../support/hostile/corpus.ts'
import { type HostileService, openHostileService } from '../support/hostile/hostile-service.ts'

// Number of documents, and the memory growth that they may cause.
const documentCount = 2_000
const maxGrowthBytes = 250 * 2 ** 20

let service: HostileService
beforeAll(async () => {
  service = await openHostileService('bounded')
})
afterAll(() => service.close())

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

// About 1,900 tokens and 45,000 characters, mostly of an operation that is not executed.
const large = (tokens: number, rest: string) =>
  `${rest} mutation Never { registerWebhook(input: { url: "https://a.example", types: [${times(tokens, () => 'PAYMENT_PAID')}], idempotencyKey: "once" }) { __typename } } #${'x'.repeat(20_000)}\n`
const rate =
  'id name available availability { sold available } prices { id name price { amount } } supplements { id name }'

// Those that are refused have a key, because the documents of strangers take turns: a sixth of the process.
type Kind = { what: string; hasKey: boolean; code?: string; make: (id: number) => string }
const kinds: Kind[] = [
  {
    what: 'refused as too complex',
    hasKey: true,
    code: 'QUERY_TOO_COMPLEX',
    make: (id) =>
      large(
        1_800,
        `query Asked { a${id}: events(first: 100) { nodes { ticketRates { event { ticketRates { event { id } } } } } } }`,
      ),
  },
  {
    what: 'invalid in the schema',
    hasKey: true,
    code: 'BAD_REQUEST',
    make: (id) => `query Asked { ${times(1_900, (index) => `f${id}x${index}`)} } #${'x'.repeat(20_000)}\n`,
  },
  {
    what: 'executed for an unauthenticated client',
    hasKey: false,
    make: (id) => large(1_800, `query Asked { a${id}: __typename }`),
  },
  {
    what: 'executed for a channel',
    hasKey: true,
    make: (id) =>
      large(
        1_200,
        `query Asked { events(first: 1) { nodes { ${times(10, (index) => `a${id}x${index}: ticketRates { ${rate} b${index}: name }`)} } } }`,
      ),
  },
]

test('2,000 different large documents grow the process by less than the limit', async () => {
  const before = await service.memory()
  for (const { what, hasKey, code, make } of kinds) {
    const requests = Array.from({ length: documentCount / kinds.length }, (_, id): Hostile => {
      const body = JSON.stringify({ query: make(id), operationName: 'Asked' })
      const headers = { 'content-type': 'application/json' }
      return { name: what, method: 'POST', url: '/graphql', headers, body }
    })
    const last = await service.flood(requests, hasKey ? service.channel : {})
    expect(JSON.parse(last).errors?.[0].extensions.code, what).toBe(code)
    const grown = (await service.memory()) - before
    console.log(`${requests.length} documents ${what}: ${Math.round(grown / 2 ** 20)} MB more by now`)
    expect(grown).toBeLessThan(maxGrowthBytes)
  }
})
