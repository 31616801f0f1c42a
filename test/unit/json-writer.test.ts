import fc from 'fast-check'
import { expect, test } from 'vitest'
import { json } from '../../src/engine/json/json-writer.ts'

const written = (value: unknown) => {
  json.start()
  expect(json.value(value)).toBe(true)
  return json.take().toString()
}

const numbers = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -0, 9, 10, 999_999_999, 1_000_000_000))

test('any value is written like JSON.stringify', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), numbers, fc.jsonValue()),
      (value) => {
        expect(written(value)).toBe(JSON.stringify(value))
      },
    ),
    { numRuns: 2000 },
  )
})

class Celsius {
  degrees = 21
}

test.each([
  { a: undefined, b: 1, c: () => 1, d: [undefined, Symbol('e')], f: {} },
  { at: new Date(0), of: Object.create(null), in: new Celsius(), ['__proto__']: 1 },
  [{ toJSON: () => 'told' }, { toJSON: 'data' }, JSON.parse('{"__proto__":[1],"2":0,"1":0}')],
  { none: undefined },
  [Number.NaN, Number.POSITIVE_INFINITY],
])('fields, classes and what JSON lacks are written like JSON.stringify: %#', (value) => {
  expect(written(value)).toBe(JSON.stringify(value))
})

test.each([
  'half of a pair: \ud800',
  'a "quote" and a \\',
  'line\nbreak \u2028 \u0000 \u007f',
  'ñ € 你 😀',
  'long '.repeat(500_000),
])('a string is written like JSON.stringify: %.20s', (text) => {
  json.start()
  json.string(text)
  expect(json.take().equals(Buffer.from(JSON.stringify(text)))).toBe(true)
  expect(written(1)).toBe('1')
})

test('a literal is written unchanged between any other values', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(9), (text, before) => {
      const well = text.toWellFormed()
      json.start()
      json.string('a'.repeat(before))
      json.raw(Buffer.from(well))
      json.number(7)
      expect(json.take().toString()).toBe(`"${'a'.repeat(before)}"${well}7`)
    }),
    { numRuns: 2000 },
  )
  json.start()
  json.raw(Buffer.from('\u007f'.repeat(9)))
  expect(json.take().toString()).toBe('\u007f'.repeat(9))
})

test('values without a JSON form are not written', () => {
  json.start()
  for (const value of [undefined, () => 1, Symbol('no')]) expect(json.value(value)).toBe(false)
  expect(json.take()).toHaveLength(0)
})

test('output of a failed write does not reach the next body', () => {
  json.start()
  json.string('half of it')
  expect(json.value(undefined)).toBe(false)
  json.start()
  expect(json.value({ name: 'all of it', list: [1, 2.5] })).toBe(true)
  expect(json.take().toString()).toBe('{"name":"all of it","list":[1,2.5]}')
})
