// Runs in: unit

import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { joinReads } from '../../src/engine/data/join-reads.ts'
import type { Database } from '../../src/engine/database/database.ts'

// Reads end on demand, which no database allows.
function controlledReader() {
  const reads: { keys: string[]; end(): void; fail(): void }[] = []
  const reader = joinReads(
    (_db, keys) =>
      new Promise<Map<string, string>>((resolve, reject) =>
        reads.push({
          keys,
          end: () =>
            resolve(new Map(keys.filter((key) => key !== 'nobody').map((key) => [key, `row ${key}`]))),
          fail: () => reject(new Error('out of reach')),
        }),
      ),
  )
  const db = {} as Database
  return {
    reads,
    ask: (key: string) => reader(db, key),
    askElsewhere: (key: string) => reader({} as Database, key),
  }
}

test('keys requested in one turn are read once, together', async () => {
  const { reads, ask } = controlledReader()
  const asked = Promise.all(['a', 'b', 'a', 'nobody'].map(ask))
  await turn()
  expect(reads.map(({ keys }) => keys)).toEqual([['a', 'b', 'nobody']])
  reads[0]?.end()
  expect(await asked).toEqual(['row a', 'row b', 'row a', null])
})

test('keys requested during a read are read again after it', async () => {
  const { reads, ask } = controlledReader()
  const first = ask('a')
  await turn()
  const second = [ask('a'), ask('b')]
  await turn()
  expect(reads).toHaveLength(1)
  reads[0]?.end()
  await first
  await turn()
  expect(reads[1]?.keys).toEqual(['a', 'b'])
  reads[1]?.end()
  expect(await Promise.all(second)).toEqual(['row a', 'row b'])
})

test('a hanging read does not block the next one, and a failed read rejects only its own requests', async () => {
  const { reads, ask } = controlledReader()
  const first = ask('a')
  await turn()
  const second = ask('b')
  await expect.poll(() => reads.length).toBe(2)
  reads[1]?.end()
  expect(await second).toBe('row b')
  reads[0]?.fail()
  await expect(first).rejects.toThrow('out of reach')
})

test('reads of different databases do not wait for each other', async () => {
  const { reads, ask, askElsewhere } = controlledReader()
  const asked = [ask('a'), askElsewhere('a')]
  await turn()
  expect(reads.map(({ keys }) => keys)).toEqual([['a'], ['a']])
  for (const { end } of reads) end()
  expect(await Promise.all(asked)).toEqual(['row a', 'row a'])
})
