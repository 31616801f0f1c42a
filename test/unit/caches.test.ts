import { expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import { TrialCache } from '../../src/engine/cache/trial-cache.ts'
import { PreparedDocument, prepareDocuments } from '../../src/engine/graphql-server/prepared-document.ts'
import { Representation } from '../../src/engine/http/representation.ts'
import { heldBytes } from '../support/heap.ts'

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

const open = () => new TrialCache<{ bytes: number }>({ maxBytes: 1_000_000, bytesOf: ({ bytes }) => bytes })

test('a flood of new entries evicts unused entries, and none that are kept', () => {
  const cache = open()
  cache.set('kept', { bytes: 1_000 })
  cache.set('not kept', { bytes: 1_000 })
  cache.keep('kept')
  for (let index = 0; index < 10_000; index++) cache.set(`stranger ${index}`, { bytes: 1_000 })
  expect(cache.get('kept')).toEqual({ bytes: 1_000 })
  expect(cache.get('not kept')).toBeUndefined()
})

test('a full cache stays below its maximum bytes, keys included, kept or not', () => {
  for (const keep of [false, true]) {
    const cache = open()
    const texts = Array.from({ length: 1_000 }, (_, index) => `${index}`.padEnd(1_000))
    for (const text of texts) {
      cache.set(text, { bytes: 3_000 })
      if (keep) cache.keep(text)
    }
    const held = texts.filter((text) => cache.get(text))
    expect(held.length).toBeGreaterThan(30)
    expect(held.length * 5_000).toBeLessThan(1_000_000)
  }
})

test('entries of size 0 still count, so that their number is limited', () => {
  const cache = open()
  for (let index = 0; index < 10_000; index++) cache.set(`${index}`, { bytes: 0 })
  expect(
    Array.from({ length: 10_000 }, (_, index) => cache.get(`${index}`)).filter(Boolean).length,
  ).toBeLessThan(1_000)
})

test('an entry larger than a part of the cache is not stored and evicts nothing', () => {
  const cache = open()
  cache.set('small', { bytes: 1 })
  cache.set('large', { bytes: 900_000 })
  expect([cache.get('small'), cache.get('large')]).toEqual([{ bytes: 1 }, undefined])
})

test('keeping an absent entry has no effect', () => {
  const cache = open()
  cache.keep('nothing')
  expect(cache.get('nothing')).toBeUndefined()
})

test('a document in use survives a flood of other documents', () => {
  const documents = prepareDocuments(schema)
  const flood = () => {
    for (let index = 0; index < 2_500; index++)
      documents.prepare(`{ stranger${index} } #${'x'.repeat(2_000)}`)
  }
  const kept = documents.prepare('{ kept }')
  documents.keep('{ kept }')
  const onTrial = documents.prepare('{ onTrial }')
  expect(documents.prepare('{ onTrial }')).toBe(onTrial)
  flood()
  expect(documents.prepare('{ kept }')).toBe(kept)
  expect(documents.prepare('{ onTrial }')).not.toBe(onTrial)
})

test('a text that is no document is prepared as one without operations', () => {
  const prepared = prepareDocuments(schema).prepare('{')
  expect(prepared.document).toBeNull()
  expect(prepared.factsOf(null)).toBeNull()
})

// A byte limit only holds if counted bytes match the memory used; test/long/cache-sizes.test.ts fills whole caches.
test.each([
  ['many fields', (id: number) => `{ ${times(1_900, (index) => `f${id}x${index}`)} }`],
  [
    'arguments',
    (id: number) =>
      `{ ${times(30, (index) => `a${id}x${index}: event(by: { id: "${index}" }) { id name }`)} }`,
  ],
  ['a nested selection', (id: number) => `{ ${times(300, (index) => `a${id}x${index} { id name }`)} }`],
  ['many comment lines', (id: number) => `{ a${id} ${'#\n'.repeat(1_900)} }`],
  ['one unknown field', (id: number) => `{ n${id} }`],
  ['no known syntax', (id: number) => `{ n${id}`],
])('a document of %s uses no more than its counted bytes, or half as much again', async (_what, make) => {
  const many = make(0).length > 100 ? 20 : 500
  const prepare = () => Array.from({ length: many }, (_, id) => new PreparedDocument(schema, make(id), false))
  prepare()
  const before = await heldBytes()
  const documents = prepare()
  const held = (await heldBytes()) - before
  const counted = documents.reduce((sum, { bytes }) => sum + bytes, 0)
  expect(held / counted).toBeLessThan(1.5)
})

test('a small shared answer holds no more than itself', async () => {
  const small = new Representation({ headers: {}, body: Buffer.from('{"data":{}}'), isShareable: true })
  expect(small.body.buffer.byteLength).toBe(small.body.length)
  const usual = Buffer.from(JSON.stringify({ data: 'x'.repeat(1_200) }))
  const encoded = await new Representation({ headers: {}, body: usual, isShareable: true }).encoded('gzip')
  expect(encoded.buffer.byteLength).toBe(encoded.length)
})
