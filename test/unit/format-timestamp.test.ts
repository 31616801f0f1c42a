import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTimestamp } from '../../src/shared/format-timestamp.ts'

test('formats a date as toISOString does', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => {
      expect(formatTimestamp(date)).toBe(date.toISOString())
    }),
    { numRuns: 2000 },
  )
})

test('formats dates that share a cache slot', () => {
  const first = new Date('2026-11-21T20:00:00.000Z').getTime()
  const dates = [0, 1, 59_999, 4096 * 60_000, -4096 * 60_000].map((offset) => new Date(first + offset))
  for (const date of [...dates, ...dates, ...dates.flatMap((date) => [date, date])])
    expect(formatTimestamp(date)).toBe(date.toISOString())
})

test.each(['0999-12-31T23:59:59.999Z', '1000-01-01', '9999-12-31T23:59:59.999Z', '+010000-01-01T00:00:00Z'])(
  'formats a date at the bounds of four-digit years: %s',
  (text) => {
    const date = new Date(text)
    expect(formatTimestamp(date)).toBe(date.toISOString())
  },
)

test('throws for an invalid date', () => {
  expect(() => formatTimestamp(new Date(Number.NaN))).toThrow(RangeError)
})
