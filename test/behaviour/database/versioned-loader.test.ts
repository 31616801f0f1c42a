import { expect, test } from 'vitest'
import { versionedLoaders } from '../../../src/data/versioned-loader.ts'
import type { Database } from '../../../src/database/database.ts'

type Thing = { text: string; size: number }

/** Loaders of things, whose revision is their text, and what was read for them. */
function things(most: number) {
  const now = new Map<string, Thing>()
  const reads: string[][] = []
  const load = versionedLoaders<Thing>(
    () => most,
    ({ size }) => size,
  )
  const db = {} as Database
  const request = (on = db) =>
    load({ db: on, rememberedEvents: most, revisions: new Map() }, async (keys) => {
      reads.push(keys)
      return new Map(
        keys.flatMap((key) => {
          const value = now.get(key)
          return value ? [[key, { revision: value.text, value }]] : []
        }),
      )
    })
  /** What a request finds that was told of these revisions. */
  const find = async (told: Record<string, string>, on = db) => {
    const found = await request(on).loadRevisions(
      Object.entries(told).map(([id, revision]) => ({ id, revision })),
    )
    return found.map((thing) => thing?.text ?? null)
  }
  return { now, reads, request, find }
}

test('what was read in a revision is not read again while that is told', async () => {
  const { now, reads, find } = things(10)
  now.set('a', { text: 'one', size: 1 }).set('b', { text: 'two', size: 1 })
  expect(await find({ a: 'one', b: 'two' })).toEqual(['one', 'two'])
  expect(await find({ b: 'two', a: 'one' })).toEqual(['two', 'one'])
  expect(reads).toEqual([['a', 'b']])
  now.set('a', { text: 'three', size: 1 })
  expect(await find({ a: 'three', b: 'two' })).toEqual(['three', 'two'])
  expect(reads).toEqual([['a', 'b'], ['a']])
})

test('who was told of no revision reads', async () => {
  const { now, reads, request, find } = things(10)
  now.set('a', { text: 'one', size: 1 })
  await find({ a: 'one' })
  expect(await request().load('a')).toEqual({ text: 'one', size: 1 })
  expect(reads).toEqual([['a'], ['a']])
})

test('what is read is remembered in the revision that it has, and not in the one that was told', async () => {
  const { now, reads, find } = things(10)
  now.set('a', { text: 'older', size: 1 })
  expect(await find({ a: 'newer' })).toEqual(['older'])
  expect(await find({ a: 'newer' })).toEqual(['older'])
  expect(reads).toHaveLength(2)
  expect(await find({ a: 'older' })).toEqual(['older'])
  expect(reads).toHaveLength(2)
})

test('what there is nothing of is null, and is looked for again', async () => {
  const { reads, find } = things(10)
  expect(await find({ a: 'one' })).toEqual([null])
  expect(await find({ a: 'one' })).toEqual([null])
  expect(reads).toHaveLength(2)
})

test('no more is remembered than fits, and the latest is', async () => {
  const { now, reads, find } = things(10)
  for (const key of 'abc') now.set(key, { text: key, size: 4 })
  now.set('large', { text: 'large', size: 11 })
  for (const key of 'abc') await find({ [key]: key })
  expect(await find({ c: 'c', b: 'b' })).toEqual(['c', 'b'])
  expect(reads).toHaveLength(3)
  await find({ a: 'a' })
  expect(reads).toHaveLength(4)
  await find({ large: 'large' })
  await find({ large: 'large' })
  expect(reads).toHaveLength(6)
})

test('what one database says is nothing to another', async () => {
  const { now, reads, find } = things(10)
  now.set('a', { text: 'one', size: 1 })
  await find({ a: 'one' })
  await find({ a: 'one' }, {} as Database)
  expect(reads).toHaveLength(2)
})

test('nothing is remembered where nothing may be', async () => {
  const { now, reads, find } = things(0)
  now.set('a', { text: 'one', size: 1 })
  expect(await find({ a: 'one' })).toEqual(['one'])
  expect(await find({ a: 'one' })).toEqual(['one'])
  expect(reads).toHaveLength(2)
})
