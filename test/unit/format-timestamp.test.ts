import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTimestamp } from '../../src/shared/format-timestamp.ts'

test('a moment is printed as toISOString does', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (moment) => {
      expect(formatTimestamp(moment)).toBe(moment.toISOString())
    }),
    { numRuns: 2000 },
  )
})

test('moments that are kept in one place are printed as what they are, again and again', () => {
  const first = new Date('2026-11-21T20:00:00.000Z').getTime()
  const moments = [0, 1, 59_999, 4096 * 60_000, -4096 * 60_000].map((apart) => new Date(first + apart))
  for (const moment of [...moments, ...moments, ...moments.flatMap((one) => [one, one])])
    expect(formatTimestamp(moment)).toBe(moment.toISOString())
})

test.each(['0999-12-31T23:59:59.999Z', '1000-01-01', '9999-12-31T23:59:59.999Z', '+010000-01-01T00:00:00Z'])(
  'at the ends of the years of four digits: %s',
  (text) => {
    const moment = new Date(text)
    expect(formatTimestamp(moment)).toBe(moment.toISOString())
  },
)

test('what is no moment is not printed', () => {
  expect(() => formatTimestamp(new Date(Number.NaN))).toThrow(RangeError)
})
