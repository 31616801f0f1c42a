import { expect, test } from 'vitest'
import { Loader } from '../../src/engine/data/loader.ts'

function countedLoader() {
  const batches: (readonly string[])[] = []
  const loader = new Loader(async (keys) => {
    batches.push(keys)
    if (keys.includes('out of reach') && batches.length === 1) throw new Error('out of reach')
    return keys.map((key) => (key === 'nobody' ? null : `value of ${key}`))
  })
  return { batches, loader }
}

test('loader: keys of one tick are one batch, and what is known is returned at once', async () => {
  const { batches, loader } = countedLoader()
  expect(await Promise.all(['a', 'nobody', 'a'].map((key) => loader.get(key)))).toEqual([
    ...['value of a', null, 'value of a'],
  ])
  expect(batches).toEqual([['a', 'nobody']])
  expect(loader.get('a')).toBe('value of a')
  expect(loader.get('nobody')).toBe(null)
})

test('loader: a level is read at once, with the keys that wait for their tick', async () => {
  const { batches, loader } = countedLoader()
  const single = loader.load('a')
  const level = loader.loadAll(['b', 'a', 'b', 'c'])
  expect(batches).toEqual([['a', 'b', 'c']])
  expect(await level).toEqual(['value of b', 'value of a', 'value of b', 'value of c'])
  expect(await single).toBe('value of a')
  await loader.loadAll(['a', 'c'])
  expect(batches).toHaveLength(1)
})

test('loader: a level of primed keys reads the others alone', async () => {
  const { batches, loader } = countedLoader()
  loader.prime('a', 'primed')
  loader.prime('a', 'too late')
  expect(await loader.loadAll(['a', 'b'])).toEqual(['primed', 'value of b'])
  expect(await loader.load('a')).toBe('primed')
  expect(batches).toEqual([['b']])
})

test('loader: what failed is read again', async () => {
  const { batches, loader } = countedLoader()
  await expect(loader.loadAll(['a', 'out of reach'])).rejects.toThrow('out of reach')
  expect(await loader.loadAll(['a', 'out of reach'])).toHaveLength(2)
  await loader.loadAll(['a', 'out of reach'])
  expect(batches.slice(1)).toEqual([['a', 'out of reach']])
})
