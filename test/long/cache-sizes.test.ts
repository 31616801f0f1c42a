import { describe, expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import { access } from '../../src/domain/caller/access.ts'
import type { Caller } from '../../src/domain/caller/caller.ts'
import { Credentials } from '../../src/domain/caller/credentials.ts'
import { sha256 } from '../../src/engine/base/ids.ts'
import { createCallerCache } from '../../src/engine/cache/caller-cache.ts'
import { createResponseCache } from '../../src/engine/cache/response-cache.ts'
import type { Database } from '../../src/engine/database/database.ts'
import { persistDocuments } from '../../src/engine/graphql-server/persisted-documents.ts'
import { prepareDocuments } from '../../src/engine/graphql-server/prepared-document.ts'
import { createLimitCounters } from '../../src/engine/http/limit-counters.ts'
import { heldBytes } from '../support/heap.ts'

// Bounds of caches are of estimated bytes. Each is filled to its bound with what clients may send, and measured.

const MB = 2 ** 20
const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

/** Fills a cache, and tells what it then holds, out of its bound. */
async function shareHeld(bound: number, fill: () => unknown): Promise<number> {
  const before = await heldBytes()
  const cache = await fill()
  const held = (await heldBytes()) - before
  // Alive until here.
  expect(cache).toBeDefined()
  console.log(`${(held / MB).toFixed(1)} MB of ${bound / MB}`)
  return held / bound
}

type Filled = { isKept: boolean; count: number; make: (id: number) => string }
const fields = 'id name available prices { id name price { amount } }'
const documents: Record<string, Filled> = {
  'small invalid ones': { isKept: false, count: 8_000, make: (id) => `{n${id}}` },
  'invalid ones with many errors': {
    ...{ isKept: false, count: 150 },
    make: (id) => `{ ${times(900, (index) => `f${id}x${index}`)} }`,
  },
  'invalid ones with long names': {
    ...{ isKept: false, count: 120 },
    make: (id) => `{ ${times(12, (index) => `f${id}x${index}${'y'.repeat(3_000)}`)} }`,
  },
  'those with a syntax error': { isKept: false, count: 12_000, make: (id) => `{ n${id}` },
  'small ones': { isKept: true, count: 15_000, make: (id) => `{ event(by: { id: "${id}" }) { id name } }` },
  pages: {
    ...{ isKept: true, count: 900 },
    make: (id) =>
      `{ events(first: ${id % 100}) { nodes { ${times(10, (index) => `a${id}x${index}: ticketRates { ${fields} }`)} } } }`,
  },
  'long lists': {
    ...{ isKept: true, count: 150 },
    make: (id) =>
      `mutation Q${id} { registerWebhook(input: { url: "https://a.example", types: [${times(1_800, () => 'PAYMENT_PAID')}], idempotencyKey: "once" }) { __typename } }`,
  },
}

// Again where what was loaded before goes meanwhile.
const again = { retry: 2 }

describe('prepared documents', again, () => {
  test.each(Object.entries(documents))('%s', async (_what, { isKept, count, make }) => {
    const share = await shareHeld((isKept ? 72 : 24) * MB, async () => {
      const cache = prepareDocuments(schema)
      for (let id = 0; id < count; id++) {
        const prepared = cache.prepare(make(id))
        if (!isKept) continue
        // Compiled, and refused at its first field.
        await prepared.operationOf(null)?.execute({ caller: null }, {})
        cache.keep(make(id))
      }
      return cache
    })
    expect(share).toBeLessThan(1.5)
    expect(share).toBeGreaterThan(0.25)
  })
})

const db = {} as Database
const headers = { 'content-type': 'application/json; charset=utf-8' }

describe('shared answers', again, () => {
  const caller: Caller = { kind: 'channel', channelId: 'c', organizationIds: ['org_1'], mode: 'live' }
  test.each([
    ['small ones', 14_000, 40],
    ['small ones that are sent compressed', 8_000, 1_200],
    ['pages', 300, 100_000],
  ])('%s', async (_what, count, length) => {
    const share = await shareHeld(16 * MB, async () => {
      const cache = createResponseCache(db, 600_000, access)
      for (let id = 0; id < count; id++) {
        // As the writer of JSON makes them, and Yoga.
        const body = Buffer.from(Buffer.from(`{"data":{"n${id}":"${'x'.repeat(length)}"}}`))
        const run = async () => ({ headers: { ...headers }, body, isShareable: true })
        const read = await cache.read(
          caller,
          JSON.stringify(['application/json', null, { id }, '{ a }']),
          run,
        )
        if (length > 1_000) await read.encoded('br')
      }
      return cache
    })
    expect(share).toBeLessThan(1.5)
    expect(share).toBeGreaterThan(0.25)
  })
})

test('callers', async () => {
  const share = await shareHeld(4 * MB, () => {
    const cache = createCallerCache(db, 600_000, access.viewOf)
    for (let id = 0; id < 10_000; id++) {
      const organizationIds = Array.from({ length: 1 + (id % 5) }, (_, index) => `org_${id}_${index}`)
      const caller = { kind: 'channel', channelId: `chn_${id}`, organizationIds, mode: 'live' } as const
      const credentials = new Credentials({ 'x-api-key': `box_live_${id}` })
      cache.remember(credentials, { caller, now: new Date(), since: 0, until: 1e9 })
    }
    return cache
  })
  expect(share).toBeLessThan(1.5)
  expect(share).toBeGreaterThan(0.25)
})

test.each([
  ['short', 8_000, 10],
  ['long', 700, 20_000],
])('persisted documents that are %s', async (_what, count, length) => {
  const share = await shareHeld(4 * MB, () => {
    const cache = persistDocuments(new Map(), false)
    for (let id = 0; id < count; id++) {
      const query = JSON.parse(`"{ a${id} } #${'x'.repeat(length)}"`)
      const persistedQuery = { version: 1, sha256Hash: sha256(query) } as const
      cache.resolve({ query, extensions: { persistedQuery } })
    }
    return cache
  })
  expect(share).toBeLessThan(1.5)
  expect(share).toBeGreaterThan(0.25)
})

test('counts of addresses', async () => {
  const share = await shareHeld(5 * MB, () => {
    const counters = createLimitCounters(600_000)
    for (let id = 0; id < 40_000; id++) counters.add(`${sha256(`${id}`)} address 192.0.2.${id}`)
    return counters
  })
  expect(share).toBeLessThan(1.5)
  expect(share).toBeGreaterThan(0.25)
})
