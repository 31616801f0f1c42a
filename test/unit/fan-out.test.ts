import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { EventStream } from '../../src/graphql-server/live/event-stream.ts'
import { Audience, FanOut } from '../../src/graphql-server/live/fan-out.ts'

// Stands for a stream, whose client reads or does not.
class Reader {
  seen = 0
  blockedAt: number | null = null
  onWritable: (() => void) | null = null
  isOver = false
  isBlocked = false
  readonly written: string[] = []
  write(bytes: Buffer) {
    this.written.push(String(bytes))
  }
}

function open(count: number) {
  const fanOut = new FanOut()
  const audience = new Audience()
  const readers = Array.from({ length: count }, () => new Reader())
  for (const reader of readers) audience.streams.add(reader as unknown as EventStream)
  const tell = (name: string, text: string) => {
    audience.set(name, Buffer.from(text))
    fanOut.publish(audience)
  }
  return { fanOut, audience, readers, tell }
}

test('a late state replaces those before it', async () => {
  const { readers, tell } = open(3)
  for (const left of ['3', '2', '1', '0']) tell('rate', left)
  await expect.poll(() => readers.map(({ written }) => written)).toEqual([['0'], ['0'], ['0']])
})

test('each state is sent once to each stream, whatever else changes', async () => {
  const { readers, tell } = open(1)
  tell('one', '1a')
  tell('two', '2a')
  await expect.poll(() => readers[0]?.written).toEqual(['1a', '2a'])
  tell('two', '2b')
  await expect.poll(() => readers[0]?.written).toEqual(['1a', '2a', '2b'])
})

test('nothing is written to a client that does not read, until it has read', async () => {
  const { readers, tell } = open(2)
  const [slow, fast] = readers as [Reader, Reader]
  slow.isBlocked = true
  for (let left = 50; left >= 0; left--) {
    tell('rate', String(left))
    await setImmediate()
  }
  await expect.poll(() => fast.written.at(-1)).toBe('0')
  expect(slow.written).toEqual([])
  slow.isBlocked = false
  await expect.poll(() => slow.written).toEqual(['0'])
})

test('a reader of its own stream waits until it is not blocked', async () => {
  const { fanOut, readers } = open(1)
  const [reader] = readers as [Reader]
  reader.isBlocked = true
  let isWritable = false
  const waiting = fanOut.whenWritable(reader as unknown as EventStream).then(() => {
    isWritable = true
  })
  await setTimeout(100)
  expect(isWritable).toBe(false)
  reader.isBlocked = false
  await waiting
})

test('ten thousand writes leave the event loop to others in between', async () => {
  const { readers, tell } = open(10_000)
  const slowly = (bytes: Buffer) => {
    const until = performance.now() + 0.01
    while (performance.now() < until);
    return String(bytes)
  }
  for (const reader of readers) reader.write = (bytes) => void reader.written.push(slowly(bytes))
  tell('rate', '0')
  let turns = 0
  while (readers.at(-1)?.written.length === 0) {
    await setImmediate()
    turns++
  }
  expect(turns).toBeGreaterThan(10)
})
