import fc from 'fast-check'

// Arbitrary values that a client may send, valid or not.

const dates =
  '0000-01-01 0001-01-01 2026-02-30 2026-01-01 2026-01-01T00:00:00.000Z 9999-12-31T23:59:59-23:59'.split(' ')
const oddities = [
  ...['', ' ', '\0', '\ud83c', '\udfff\ud800', '__proto__', 'constructor', 'toString', '0', '-1', '1e400'],
  ...[
    'NaN',
    '{}',
    '[]',
    'null',
    '\u202e',
    '\ufeff',
    'ß',
    'İ',
    '\u0130\u0307',
    '%00',
    '%zz',
    '../../..',
    "'",
    '"',
    '\\',
  ],
  ...["' or ''='", '#{7*7}', '<script>', 'a'.repeat(5_000), '💥'.repeat(300)],
]

/** Any UTF-16 code unit, and strings that are known to break parsers and databases. */
export const text = fc.oneof(
  fc.constantFrom(...dates, ...oddities),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    maxLength: 10,
  }),
  fc.emailAddress(),
  fc.webUrl(),
  fc.double().map(String),
)

export const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 5e-324, 1e-160, 1e308, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63),
)

/** Nesting as deep as a parser can bear. */
const deep = fc
  .tuple(fc.integer({ min: 5, max: 60 }), fc.boolean())
  .map(([depth, isList]) => nested(depth, isList))

/** Nests a value `depth` levels deep. */
export function nested(depth: number, isList: boolean): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < depth; level++) value = isList ? [value] : { a: value }
  return value
}

export const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 })
export const anything = fc.oneof(text, number, fc.boolean(), fc.constant(null), json, deep)
