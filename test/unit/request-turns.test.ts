import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RequestTurns } from '../../src/request/request-turns.ts'

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

test('while another owner sends one at a time, those of one that sends many begin one by one', async () => {
  const { begun, send, countOf } = opened()
  send('few')
  send('many', 50)
  expect(begun).toEqual(['few', 'many'])
  for (let time = 0; time < 20; time++) {
    await setImmediate()
    const before = countOf('many')
    send('few')
    expect(begun.at(-1)).toBe('few')
    expect(countOf('many')).toBe(before)
  }
  await expect.poll(() => countOf('many')).toBe(50)
})

test('owners that all send many begin at once, as soon as they are known to', async () => {
  const { begun, send } = opened()
  let sent = 0
  const sendAll = () => {
    for (const owner of ['a', 'b']) send(owner, 10)
    sent += 20
  }
  for (const end = performance.now() + 1_200; performance.now() < end; await setTimeout(20)) sendAll()
  await expect.poll(() => begun.length).toBe(sent)
  sendAll()
  expect(begun).toHaveLength(sent)
})

test('an owner that waits with too many is refused, and no other', async () => {
  const { turns, begun, send } = opened()
  send('few')
  send('many', 2_001)
  expect(() => turns.take('many', () => {})).toThrow('Too many requests at once.')
  await setImmediate()
  send('few')
  expect(begun.at(-1)).toBe('few')
})
