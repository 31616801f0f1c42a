// Runs in: pglite, postgres

import { expect, test } from 'vitest'
import { versionedLoaders } from '../../../src/engine/data/versioned-loader.ts'
import type { Database } from '../../../src/engine/database/database.ts'

type Thing = { revision: string; size: number }

/** Makes a loader of rows that are nothing but a revision, and records what it reads. */
function things(max: number) {
  const now = new Map<string, Thing>()
  const reads: string[][] = []
  const load = versionedLoaders<Thing>(
    () => max,
    ({ size }) => size,
  )
  const db = {} as Database
  const request = (on = db) =>
    load({ db: on, rememberedEvents: max, revisions: new Map() }, async (keys) => {
      reads.push(keys)
      return new Map(
        keys.flatMap((key) => {
          const value = now.get(key)
          return value ? [[key, value]] : []
        }),
      )
    })
  /** Loads, in a new request, the rows expected at these revisions. */
  const find = async (told: Record<string, string>, on = db) => {
    const found = await request(on).loadRevisions(
      Object.entries(told).map(([id, revision]) => ({ id, revision })),
    )
    return found.map((thing) => thing?.revision ?? null)
  }
  return { now, reads, request, find }
}

test('versioned loader reads a row again only when its revision changed', async () => {
  const { now, reads, find } = things(10)
  now.set('a', { revision: 'one', size: 1 }).set('b', { revision: 'two', size: 1 })
  expect(await find({ a: 'one', b: 'two' })).toEqual(['one', 'two'])
  expect(await find({ b: 'two', a: 'one' })).toEqual(['two', 'one'])
  expect(reads).toEqual([['a', 'b']])
  now.set('a', { revision: 'three', size: 1 })
  expect(await find({ a: 'three', b: 'two' })).toEqual(['three', 'two'])
  expect(reads).toEqual([['a', 'b'], ['a']])
})

test('versioned loader reads if no revision is known', async () => {
  const { now, reads, request, find } = things(10)
  now.set('a', { revision: 'one', size: 1 })
  await find({ a: 'one' })
  expect(await request().load('a')).toEqual({ revision: 'one', size: 1 })
  expect(reads).toEqual([['a'], ['a']])
})

test('versioned loader caches a row under the revision it has, not the expected one', async () => {
  const { now, reads, find } = things(10)
  now.set('a', { revision: 'older', size: 1 })
  expect(await find({ a: 'newer' })).toEqual(['older'])
  expect(await find({ a: 'newer' })).toEqual(['older'])
  expect(reads).toHaveLength(2)
  expect(await find({ a: 'older' })).toEqual(['older'])
  expect(reads).toHaveLength(2)
})

test('versioned loader does not cache absent rows', async () => {
  const { reads, find } = things(10)
  expect(await find({ a: 'one' })).toEqual([null])
  expect(await find({ a: 'one' })).toEqual([null])
  expect(reads).toHaveLength(2)
})

test('versioned loader keeps what fits and evicts the oldest', async () => {
  const { now, reads, find } = things(10)
  for (const key of 'abc') now.set(key, { revision: key, size: 4 })
  now.set('large', { revision: 'large', size: 11 })
  for (const key of 'abc') await find({ [key]: key })
  expect(await find({ c: 'c', b: 'b' })).toEqual(['c', 'b'])
  expect(reads).toHaveLength(3)
  await find({ a: 'a' })
  expect(reads).toHaveLength(4)
  await find({ large: 'large' })
  await find({ large: 'large' })
  expect(reads).toHaveLength(6)
})

test('versioned loader caches by database', async () => {
  const { now, reads, find } = things(10)
  now.set('a', { revision: 'one', size: 1 })
  await find({ a: 'one' })
  await find({ a: 'one' }, {} as Database)
  expect(reads).toHaveLength(2)
})

test('versioned loader with a size of 0 caches nothing', async () => {
  const { now, reads, find } = things(0)
  now.set('a', { revision: 'one', size: 1 })
  expect(await find({ a: 'one' })).toEqual(['one'])
  expect(await find({ a: 'one' })).toEqual(['one'])
  expect(reads).toHaveLength(2)
})
