import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decimalsOf,
  isAmount,
  isoDecimals,
  percentageOf,
  toMajor,
  toMinor,
} from '../../src/engine/base/money.ts'

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

  test('a percentage in steps is the nearest of them', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 12 }), fc.nat({ max: 1_000_000 }), (amount, tenThousandths) => {
        const part = percentageOf(amount, tenThousandths / 10_000, 10)
        const exact = 2n * BigInt(amount) * BigInt(tenThousandths)
        expect(part % 10).toBe(0)
        expect(exact >= (2n * BigInt(part) - 10n) * 1_000_000n).toBe(true)
        expect(exact < (2n * BigInt(part) + 10n) * 1_000_000n).toBe(true)
      }),
      { numRuns: 2_000 },
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
  // Stored amounts are worth what these say: a line here changes only where a currency is added.
  test('every currency has the decimals that amounts are stored with', () => {
    const codesOf = (decimals: number) =>
      [...isoDecimals]
        .filter(([, count]) => count === decimals)
        .map(([code]) => code)
        .join(' ')
    expect(codesOf(0)).toBe('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF')
    expect(codesOf(2)).toBe(
      `
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF
        CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ
        GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD
        MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD
        RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH
        USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG ZWL
      `
        .trim()
        .replace(/\s+/g, ' '),
    )
    expect(codesOf(3)).toBe('BHD IQD JOD KWD LYD OMR TND')
    expect(codesOf(4)).toBe('CLF UYW')
    expect(isoDecimals.size).toBe(170)
    expect([...isoDecimals].filter(([code, count]) => decimalsOf(code) !== count)).toEqual([])
  })

  test('control: this Node has other decimals for some of them', () => {
    const others = [...isoDecimals].filter(([currency, count]) => {
      const format = new Intl.NumberFormat('en', { style: 'currency', currency })
      return format.resolvedOptions().maximumFractionDigits !== count
    })
    expect(others.length).toBeGreaterThan(0)
  })

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
        const isCharged = currency !== 'KWD' || minor % 10 === 0
        expect(isAmount(toMajor(minor, currency), currency)).toBe(isCharged)
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
    // Clients compute in floating point.
    [0.1 + 0.2, 'EUR', true],
    [21.49 * 5, 'EUR', true],
    [10.50001, 'EUR', false],
    [10.5, 'JPY', false],
    [1050, 'JPY', true],
    // No provider takes thousandths.
    [1.001, 'KWD', false],
    [1.01, 'KWD', true],
    [1.0001, 'KWD', false],
    [1.5, 'MGA', false],
    [2, 'MGA', true],
    [1e300, 'EUR', false],
    [Number.NaN, 'EUR', false],
    [Number.POSITIVE_INFINITY, 'EUR', false],
  ])('%f %s is a valid amount: %s', (major, currency, isValid) => {
    expect(isAmount(major, currency)).toBe(isValid)
  })
})
