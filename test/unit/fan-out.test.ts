import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { EventStream } from '../../src/engine/graphql-server/live/event-stream.ts'
import { Audience, FanOut } from '../../src/engine/graphql-server/live/fan-out.ts'

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

/** Makes each write to these readers keep the process busy, and notes when the last of them was made. On a clock of
 *  its own: with one that the next test has frozen, a round that is still under way would never end. */
function writeSlowly(readers: Reader[], microseconds: number) {
  const rounds: { at: number; text: string }[] = []
  for (const reader of readers)
    reader.write = (bytes) => {
      const until = process.hrtime.bigint() + BigInt(microseconds * 1_000)
      while (process.hrtime.bigint() < until);
      reader.written.push(String(bytes))
      if (reader === readers.at(-1)) rounds.push({ at: performance.now(), text: String(bytes) })
    }
  return rounds
}

test('states that keep changing are sent to thousands less often, and the last in time', async () => {
  const { readers, tell } = open(10_000)
  const rounds = writeSlowly(readers, 20)
  let left = 50
  for (; left > 0; left--) {
    tell('rate', String(left))
    await setTimeout(100)
  }
  const during = rounds.length
  tell('rate', '0')
  const toldAt = performance.now()
  await expect.poll(() => rounds.at(-1)?.text, { timeout: 2_000 }).toBe('0')
  expect((rounds.at(-1)?.at ?? 0) - toldAt).toBeLessThan(1_000)
  // Rounds in five seconds, two seconds apart.
  expect(during).toBeGreaterThanOrEqual(2)
  expect(during).toBeLessThanOrEqual(4)
})

// Tried again, because a busy machine may hold up a round.
test.each(['of another audience', 'of the same audience'])(
  'a state %s that rests is sent to thousands in time, while one keeps changing',
  { retry: 2 },
  async (which) => {
    const { fanOut, audience, readers, tell } = open(10_000)
    const rounds = writeSlowly(readers, 20)
    const resting = which === 'of the same audience' ? audience : new Audience()
    const reader = new Reader()
    resting.streams.add(reader as unknown as EventStream)
    tell('rate', 'first')
    await expect.poll(() => rounds.length, { timeout: 2_000 }).toBe(1)
    const toldAt = performance.now()
    resting.set('other', Buffer.from('last'))
    fanOut.publish(resting)
    while (!reader?.written.includes('last')) {
      tell('rate', String(performance.now()))
      await setTimeout(20)
    }
    // Two seconds, if it waited with the one that changes.
    expect(performance.now() - toldAt).toBeLessThan(1_500)
  },
)

test('ten thousand writes leave the event loop to others in between', async () => {
  const { readers, tell } = open(10_000)
  writeSlowly(readers, 10)
  tell('rate', '0')
  let turns = 0
  while (readers.at(-1)?.written.length === 0) {
    await setImmediate()
    turns++
  }
  expect(turns).toBeGreaterThan(10)
})
