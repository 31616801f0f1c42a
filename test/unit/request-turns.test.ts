import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RequestTurns } from '../../src/engine/request/request-turns.ts'

function opened() {
  const turns = new RequestTurns()
  const begun: string[] = []
  const send = (owner: string, count = 1) => {
    for (let sent = 0; sent < count; sent++) turns.take(owner, () => begun.push(owner))
  }
  const countOf = (owner: string) => begun.filter((other) => other === owner).length
  return { turns, begun, send, countOf }
}

test('all requests of a single owner begin at once', () => {
  const { send, countOf } = opened()
  send('many', 500)
  expect(countOf('many')).toBe(500)
})

test('while another owner sends one at a time, a few at once of one that sends many begin together', async () => {
  const { begun, send, countOf } = opened()
  send('few')
  send('many', 200)
  const together = countOf('many')
  expect(together).toBeGreaterThan(10)
  expect(together).toBeLessThan(70)
  for (let time = 0; time < 20; time++) {
    await setImmediate()
    const before = countOf('many')
    send('few')
    expect(begun.at(-1)).toBe('few')
    expect(countOf('many')).toBe(before)
  }
  await expect.poll(() => countOf('many')).toBe(200)
})

test('fewer begin together, the longer they take', async () => {
  const { turns, send } = opened()
  const sizes: number[] = []
  let together = 0
  function begin() {
    if (together++ === 0)
      void setTimeout()
        .then(() => sizes.push(together))
        .then(() => (together = 0))
    for (const end = performance.now() + 4; performance.now() < end; );
  }
  send('few')
  for (let sent = 0; sent < 80; sent++) turns.take('many', begin)
  for (; sizes.reduce((sum, size) => sum + size, 0) < 80; await setTimeout(5)) send('few')
  expect(sizes[0]).toBeGreaterThan(10)
  expect(sizes.at(-1)).toBeLessThan(5)
})

test('an owner that waits with too many is refused, and no other', async () => {
  const { turns, begun, send } = opened()
  send('few')
  send('many', 2_000 + 33)
  expect(() => turns.take('many', () => {})).toThrow('Too many requests at once.')
  await setImmediate()
  send('few')
  expect(begun.at(-1)).toBe('few')
})
