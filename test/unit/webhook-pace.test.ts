import { expect, test } from 'vitest'
import { pacesOf } from '../../src/domain/webhook/send/pace.ts'
import type { Database } from '../../src/engine/database/database.ts'

const newPaces = () => pacesOf({} as Database)
const full = (meanMs: number) => ({ hasFailed: false, isFull: true, meanMs })

test('pace of a receiver doubles with each full batch that is answered as fast, up to 64', () => {
  const paces = newPaces()
  const reached = Array.from({ length: 6 }, () => {
    const before = paces.concurrencyOf('a')
    paces.learn('a', full(100))
    return before
  })
  expect(reached).toEqual([4, 8, 16, 32, 64, 64])
  expect(paces.concurrencyOf('b')).toBe(4)
  expect(paces.batches()).toEqual([{ webhookId: 'a', size: 320 }])
})

test('pace of a receiver stays after a batch that was not full', () => {
  const paces = newPaces()
  paces.learn('a', full(100))
  paces.learn('a', { hasFailed: false, isFull: false, meanMs: 100 })
  expect(paces.concurrencyOf('a')).toBe(8)
})

test('pace of a receiver that answers in more than twice the time is halved, down to four', () => {
  const paces = newPaces()
  for (let batch = 0; batch < 3; batch++) paces.learn('a', full(100))
  expect(paces.concurrencyOf('a')).toBe(32)
  const reached = Array.from({ length: 4 }, () => {
    paces.learn('a', full(1000))
    return paces.concurrencyOf('a')
  })
  expect(reached).toEqual([16, 8, 4, 4])
})

test('pace of a receiver that stays slower recovers', () => {
  const paces = newPaces()
  for (let batch = 0; batch < 3; batch++) paces.learn('a', full(100))
  for (let batch = 0; batch < 30; batch++) paces.learn('a', full(500))
  expect(paces.concurrencyOf('a')).toBe(64)
})

test('pace of a receiver that failed begins anew', () => {
  const paces = newPaces()
  for (let batch = 0; batch < 3; batch++) paces.learn('a', full(100))
  paces.learn('a', { hasFailed: true, isFull: true, meanMs: 100 })
  expect(paces.concurrencyOf('a')).toBe(4)
  expect(paces.batches()).toEqual([])
})
