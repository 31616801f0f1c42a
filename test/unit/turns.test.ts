import { afterEach, expect, test, vi } from 'vitest'
import { createBulkhead, everybody, Turns, takeTurn } from '../../src/engine/base/turns.ts'

const limits = { maxAtOnce: 3, maxOfOwner: 2, maxWaiting: 5 }

afterEach(() => vi.restoreAllMocks())

/** A bulkhead whose work ends on demand: `begun` lists the owners in the order of their turns. */
function controlled(more: Partial<typeof limits> = {}) {
  const run = createBulkhead({ ...limits, ...more, words: 'Too much.' })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const start = (owner: string) =>
    run(owner, () => {
      begun.push(owner)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const endNext = async () => {
    ends.shift()?.()
    await new Promise(setImmediate)
  }
  return { start, begun, endNext }
}

test('an owner has its share, and the next one begins at once', () => {
  const { start, begun } = controlled()
  for (const owner of ['a', 'a', 'a', 'b', 'b']) void start(owner)
  expect(begun).toEqual(['a', 'a', 'b'])
})

test('owners take turns, however much one of them has', async () => {
  const { start, begun, endNext } = controlled({ maxAtOnce: 1, maxOfOwner: 1 })
  for (const owner of ['a', 'a', 'a', 'a', 'b', 'c', 'b']) void start(owner)
  for (let turn = 0; turn < 6; turn++) await endNext()
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a'])
})

test('an owner of which too much waits is refused, and no other', async () => {
  const { start, begun, endNext } = controlled()
  for (let piece = 0; piece < 7; piece++) void start('a')
  await expect(start('a')).rejects.toMatchObject({ code: 'BUSY', message: 'Too much.' })
  void start('b')
  void start('b')
  await endNext()
  await endNext()
  expect(begun).toEqual(['a', 'a', 'b', 'a', 'b'])
})

test('the service’s own work has no bound but that of all', () => {
  const { start, begun } = controlled()
  for (let piece = 0; piece < 4; piece++) void start(everybody)
  expect(begun).toHaveLength(3)
})

test('what fails ends its turn', async () => {
  const run = createBulkhead({ ...limits, maxAtOnce: 1 })
  const failing = run('a', () => Promise.reject(new Error('failed')))
  const next = run('b', async () => 'done')
  await expect(failing).rejects.toThrow('failed')
  expect(await next).toBe('done')
})

test('what has waited for as long as a request may is refused in place of being done', async () => {
  const { start, begun, endNext } = controlled({ maxAtOnce: 1 })
  void start('a')
  const late = start('b')
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + 15_001)
  const refused = expect(late).rejects.toMatchObject({ code: 'BUSY' })
  await endNext()
  await refused
  void start('c')
  expect(begun).toEqual(['a', 'c'])
})

test('those that are given up on no longer wait', () => {
  const turns = new Turns<number>(limits)
  for (const piece of [1, 2, 3]) turns.wait('a', piece)
  turns.wait('b', 1)
  expect(turns.giveUp((piece) => piece < 3)).toEqual([1, 2, 1])
  expect(turns).toMatchObject({ size: 1, atWork: 0 })
  expect(turns.next(() => 'got')).toEqual({ name: 'a', piece: 3, got: 'got' })
})

test('an owner whose work can’t begin for want of something keeps its turn', () => {
  const turns = new Turns<string>(limits)
  turns.wait('a', 'first')
  turns.wait('b', 'second')
  expect(turns.next(() => null)).toBeNull()
  expect(turns.next(() => true)).toMatchObject({ name: 'a' })
})

test('an owner with nothing to give is passed by', () => {
  const owners = new Map([
    ['a', [] as number[]],
    ['b', [1, 2]],
    ['c', [3]],
  ])
  const take = () => takeTurn(owners, (owner) => owner.shift() ?? null)
  expect([take(), take(), take(), take()]).toEqual([1, 3, 2, null])
})
