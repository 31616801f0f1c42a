import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { showProgress } from '../../src/app/show-progress.ts'
import { instruments } from '../../src/engine/base/instruments.ts'
import { mockClock } from '../support/mock-clock.ts'

let clock: ReturnType<typeof mockClock>
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  clock = mockClock({ isFrozen: true })
})
afterEach(() => {
  clock.restore()
  vi.useRealTimers()
})

/** Shows progress on a stream. Returns what was written, without codes for a terminal. */
function shown(isTTY: boolean) {
  let written = ''
  const write = (text: string) => {
    written += text
    return true
  }
  const hide = showProgress({ isTTY, columns: 100, write } as unknown as NodeJS.WriteStream)
  return {
    hide,
    wait(seconds: number) {
      clock.advance(seconds * 1000)
      vi.advanceTimersByTime(seconds * 1000)
    },
    text() {
      const text = written.replace(/\p{Cc}(\[[?\d;]*[a-zA-Z]|\d)/gu, '')
      written = ''
      return text
    },
  }
}

test('a rate and a time left are said only once they can be told', () => {
  const { wait, text, hide } = shown(false)
  wait(20)
  expect(text()).toBe('')
  instruments.progress?.('read events', 0, 20_000)
  wait(10)
  expect(text()).toBe('read events: 0 of 20000\n')
  instruments.progress?.('read events', 4_000, 20_000)
  wait(10)
  expect(text()).toBe('read events: 4000 of 20000, 200/s, 80 s left\n')
  // A batch that is done as soon as its step begins tells of no rate.
  instruments.progress?.('organizations', 4_000, 4_000)
  clock.advance(-10_000)
  wait(10)
  expect(text()).toBe('organizations: 4000 of 4000\n')
  instruments.progress?.('migrations', 1, 3)
  wait(10)
  expect(text()).toBe('migrations: 1 of 3, 20 s left\n')
  hide()
})

test.each([true, false])('no step says a figure that is none (on a terminal: %s)', (isTTY) => {
  const { wait, text, hide } = shown(isTTY)
  let said = ''
  for (const total of [0, 1, 3, 5_000, 4_000_000])
    for (const part of [0, 0.001, 0.5, 1])
      for (const seconds of [0, 0.001, 0.5, 1, 10, 1_000]) {
        instruments.progress?.(`step ${seconds}`, Math.floor(total * part), total)
        wait(seconds)
        instruments.progress?.(`step ${seconds}`, Math.floor(total * part), total)
        said += text()
      }
  hide()
  said += text()
  expect(said).toMatch(/step 10[: ]/)
  expect(said).not.toMatch(/NaN|NF|LL|undefined|null|\{|, 0\/s|, 0 s| -\d/)
  const rates = [...said.matchAll(/(\d+) of \d+, (\d+)\/s/g)].map(([, done, rate]) => [
    Number(done),
    Number(rate),
  ])
  expect(rates.length).toBeGreaterThan(0)
  for (const [done = 0, rate = 0] of rates) expect(rate).toBeLessThanOrEqual(done)
})
