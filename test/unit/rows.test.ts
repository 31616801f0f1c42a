import {
  bigint,
  customType,
  date,
  integer,
  jsonb,
  numeric,
  pgTable,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'
import { describe, expect, test } from 'vitest'
import { arrayRows } from '../../src/engine/data/array-params.ts'
import { fewRowsOf, rowsOf } from '../../src/engine/data/json-rows.ts'

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

const things = pgTable('things', {
  id: text().primaryKey(),
  words: text().array().notNull(),
  count: integer().notNull(),
  amount: bigint({ mode: 'number' }).notNull(),
  share: numeric({ mode: 'number' }).notNull(),
  day: date({ mode: 'string' }),
  at: timestamp({ withTimezone: true, precision: 3 }).notNull(),
  facts: jsonb().$type<object>(),
  dayAsDate: date({ mode: 'date' }),
  atAsText: timestamp({ mode: 'string' }),
  large: bigint({ mode: 'bigint' }),
  exact: numeric(),
  exactLarge: numeric({ mode: 'bigint' }),
  bytes: bytea(),
  days: date({ mode: 'date' }).array(),
  moments: timestamp().array(),
})

describe.each([
  ['rowsOf', rowsOf],
  ['fewRowsOf', fewRowsOf],
])('%s', (_name, define) => {
  test.each(['dayAsDate', 'atAsText', 'large', 'exact', 'exactLarge', 'bytes', 'days', 'moments'] as const)(
    'refuses a column whose JSON is not its value, and names it: %s',
    (name) => {
      expect(() => define({ id: things.id, [name]: things[name] })).toThrow(
        `column ${name}: JSON does not carry`,
      )
    },
  )

  test('accepts the other types', () => {
    const { id, words, count, amount, share, day, at, facts } = things
    expect(() => define({ id, words, count, amount, share, day, at, facts })).not.toThrow()
  })
})

describe('arrayRows', () => {
  const { values } = arrayRows('new', {
    ...{ id: 'text', words: 'text[]', count: 'integer', facts: 'jsonb', sizes: 'integer[]' },
    at: 'timestamp (3) with time zone',
  })

  test('passes each column as an array literal, as is a list, a date as ISO 8601, JSON as JSON, and one of nulls alone as an empty array', () => {
    expect(
      values([
        { id: 'null', count: 1, at: new Date(0), facts: [{ of: 'a' }], words: [] },
        { id: String.raw`b"\,{`, facts: { of: 'b' }, words: ['a', String.raw`b"\,{`, 'null'] },
      ]),
    ).toEqual({
      new_id: String.raw`{"null","b\"\\,{"}`,
      new_words: String.raw`{"{}","{\"a\",\"b\\\"\\\\,{\",\"null\"}"}`,
      new_sizes: '{}',
      new_count: '{1,null}',
      new_at: '{"1970-01-01T00:00:00.000Z",null}',
      new_facts: String.raw`{"[{\"of\":\"a\"}]","{\"of\":\"b\"}"}`,
    })
  })

  test.each([
    ['facts', new Date(0), "facts: a row of parameters can't hold Date as jsonb"],
    ['id', ['a'], "id: a row of parameters can't hold Array as text"],
    ['words', [{ of: 'a' }], "words: a row of parameters can't hold Object as text"],
    ['id', { of: 'a' }, "id: a row of parameters can't hold Object as text"],
  ])('refuses a date or a list as what it is not, and names its column: %s', (name, value, message) => {
    expect(() => values([{ id: 'a', [name]: value }])).toThrow(message)
  })
})
