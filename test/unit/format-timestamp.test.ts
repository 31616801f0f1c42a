import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTimestamp } from '../../src/shared/format-timestamp.ts'

test('a timestamp is formatted like toISOString', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => {
      expect(formatTimestamp(date)).toBe(date.toISOString())
    }),
    { numRuns: 2000 },
  )
})

test('timestamps that share a cache slot are formatted correctly in any order', () => {
  const first = new Date('2026-11-21T20:00:00.000Z').getTime()
  const dates = [0, 1, 59_999, 4096 * 60_000, -4096 * 60_000].map((offset) => new Date(first + offset))
  for (const date of [...dates, ...dates, ...dates.flatMap((date) => [date, date])])
    expect(formatTimestamp(date)).toBe(date.toISOString())
})

test.each(['0999-12-31T23:59:59.999Z', '1000-01-01', '9999-12-31T23:59:59.999Z', '+010000-01-01T00:00:00Z'])(
  'a timestamp at the edge of four-digit years is formatted like toISOString: %s',
  (text) => {
    const date = new Date(text)
    expect(formatTimestamp(date)).toBe(date.toISOString())
  },
)

test('an invalid timestamp throws', () => {
  expect(() => formatTimestamp(new Date(Number.NaN))).toThrow(RangeError)
})
