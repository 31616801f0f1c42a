import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimalsOf, isAmount, percentageOf, toMajor, toMinor } from '../../src/shared/money.ts'

describe('percentages', () => {
  test.each([
    [1000, 10, 100],
    [1050, 10, 105],
    [1005, 10, 101],
    [1004, 10, 100],
    [1, 50, 1],
    [1, 49.9999, 0],
    [3, 50, 2],
    [2999, 0, 0],
    [0, 12.5, 0],
    [999, 100, 999],
    [100, 150, 150],
    // In floating point this half is 1.005 * 100 = 100.49999999999999.
    [10_050, 1, 101],
    [1_000_000, 0.0001, 1],
    [500_000, 0.0001, 1],
    [499_999, 0.0001, 0],
  ])('%i by %f percent is %i', (amount, percentage, part) => {
    expect(percentageOf(amount, percentage)).toBe(part)
  })

  test('percentages round half up, exactly, at any size', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: Number.MAX_SAFE_INTEGER }),
        // Integer ten-thousandths of a percent keep the exact fraction known.
        fc.nat({ max: 1_000_000 }),
        (amount, tenThousandths) => {
          const part = BigInt(percentageOf(amount, tenThousandths / 10_000))
          // part is the rounding of q = amount · t / 10⁶ iff part - ½ ≤ q < part + ½; all times 2 · 10⁶.
          const exact = 2n * BigInt(amount) * BigInt(tenThousandths)
          expect(exact >= (2n * part - 1n) * 1_000_000n).toBe(true)
          expect(exact < (2n * part + 1n) * 1_000_000n).toBe(true)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('exact halves round up', () => {
    fc.assert(
      // An odd number of halves: (2n + 1) · 50 % is n + ½.
      fc.property(fc.nat({ max: 2 ** 40 }), (n) => {
        expect(percentageOf(2 * n + 1, 50)).toBe(n + 1)
      }),
    )
  })
})

describe('currencies', () => {
  test.each([
    ['EUR', 2, 1050, 10.5],
    ['USD', 2, 1, 0.01],
    ['JPY', 0, 1050, 1050],
    ['KWD', 3, 1050, 1.05],
  ])('%s has %i decimals: %i is %f', (currency, decimals, minor, major) => {
    expect(decimalsOf(currency)).toBe(decimals)
    expect(toMajor(minor, currency)).toBe(major)
    expect(toMinor(major, currency)).toBe(minor)
  })

  test('minor units survive the conversion to major units and back', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 13 }), fc.constantFrom('EUR', 'JPY', 'KWD'), (minor, currency) => {
        expect(toMinor(toMajor(minor, currency), currency)).toBe(minor)
        expect(isAmount(toMajor(minor, currency), currency)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a major amount prints as the same decimal', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 12 }), (minor) => {
        const euros = `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`
        expect(toMajor(minor, 'EUR').toFixed(2)).toBe(euros)
        expect(toMinor(Number(euros), 'EUR')).toBe(minor)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    [10.5, 'EUR', true],
    [10.505, 'EUR', false],
    [0.1 + 0.2, 'EUR', false],
    [10.5, 'JPY', false],
    [1050, 'JPY', true],
    [1.001, 'KWD', true],
    [1.0001, 'KWD', false],
    [1e300, 'EUR', false],
    [Number.NaN, 'EUR', false],
    [Number.POSITIVE_INFINITY, 'EUR', false],
  ])('%f %s is a valid amount: %s', (major, currency, isValid) => {
    expect(isAmount(major, currency)).toBe(isValid)
  })
})
