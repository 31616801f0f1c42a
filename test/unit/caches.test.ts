import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parse } from 'graphql'
import { expect, test, vi } from 'vitest'
import { TrialCache } from '../../src/cache/trial-cache.ts'
import { bytesOf } from '../../src/graphql-server/document-cache.ts'
import { decideOnce, keepDecisions } from '../../src/graphql-server/prepared-operation.ts'

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

const open = () => new TrialCache<{ bytes: number }>({ maxBytes: 1_000_000, bytesOf: ({ bytes }) => bytes })

test('what strangers set pushes out what others set, and nothing that is kept', () => {
  const cache = open()
  cache.set('kept', { bytes: 1_000 })
  cache.set('not kept', { bytes: 1_000 })
  cache.keep('kept')
  for (let index = 0; index < 10_000; index++) cache.set(`stranger ${index}`, { bytes: 1_000 })
  expect(cache.get('kept')).toEqual({ bytes: 1_000 })
  expect(cache.get('not kept')).toBeUndefined()
})

test('holds at most its bytes, with those of texts, whether they are kept or not', () => {
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

test('very many small ones are not held for nothing', () => {
  const cache = open()
  for (let index = 0; index < 10_000; index++) cache.set(`${index}`, { bytes: 0 })
  expect(
    Array.from({ length: 10_000 }, (_, index) => cache.get(`${index}`)).filter(Boolean).length,
  ).toBeLessThan(1_000)
})

test('what is larger than a part is not held, and pushes nothing out', () => {
  const cache = open()
  cache.set('small', { bytes: 1 })
  cache.set('large', { bytes: 900_000 })
  expect([cache.get('small'), cache.get('large')]).toEqual([{ bytes: 1 }, undefined])
})

test('to keep what is not there is nothing', () => {
  const cache = open()
  cache.keep('nothing')
  expect(cache.get('nothing')).toBeUndefined()
})

test('what is decided of a document that callers use is not decided anew because of strangers', () => {
  const decide = vi.fn(({ operation }) => operation)
  const find = decideOnce(decide)
  const decisionsOf = (query: string) => {
    const before = decide.mock.calls.length
    expect(find({ query })).toBe('query')
    return decide.mock.calls.length - before
  }
  const flood = () => {
    for (let index = 0; index < 2_000; index++) find({ query: `{ stranger${index} } #${'x'.repeat(1_000)}` })
  }
  expect(decisionsOf('{ kept }')).toBe(1)
  keepDecisions('{ kept }')
  expect(decisionsOf('{ onTrial }')).toBe(1)
  expect(decisionsOf('{ onTrial }')).toBe(0)
  flood()
  expect(decisionsOf('{ kept }')).toBe(0)
  expect(decisionsOf('{ onTrial }')).toBe(1)
})

// What a cache counts must be what it holds: else its bound is none.
test.each([
  ['one field behind the other', (id: number) => `{ ${times(1_900, (index) => `f${id}x${index}`)} }`],
  [
    'arguments',
    (id: number) => `{ ${times(150, (index) => `a${id}x${index}: event(id: "${index}") { id name }`)} }`,
  ],
  ['a nested selection', (id: number) => `{ ${times(300, (index) => `a${id}x${index} { id name }`)} }`],
  ['a line of a comment each', (id: number) => `{ a${id} ${'#\n'.repeat(1_900)} }`],
])('a document of %s holds no more than is counted, and not much less', (_what, make) => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const many = 40
  parse(make(many))
  collect()
  const before = process.memoryUsage().heapUsed
  const documents = Array.from({ length: many }, (_, id) => parse(make(id)))
  collect()
  const held = process.memoryUsage().heapUsed - before
  const counted = documents.reduce((sum, document) => sum + bytesOf(document), 0)
  expect(held / counted).toBeGreaterThan(0.3)
  expect(held / counted).toBeLessThan(1.1)
})
