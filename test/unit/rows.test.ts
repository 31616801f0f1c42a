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
import { arrayRows, typesOf } from '../../src/data/array-params.ts'
import { fewRowsOf, rowsOf } from '../../src/data/json-rows.ts'

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
  const { id, words, count, at, facts } = typesOf(things, { except: [] })
  const { values } = arrayRows('new', { id, words, count, at, facts } as Record<string, string>)

  test('passes each column as an array literal, JSON as JSON, and one of nulls alone as an empty array', () => {
    expect(
      values([
        { id: 'null', count: 1, facts: [{ of: 'a' }] },
        { id: String.raw`b"\,{`, facts: { of: 'b' } },
      ]),
    ).toEqual({
      new_id: String.raw`{"null","b\"\\,{"}`,
      new_words: '{}',
      new_count: '{1,null}',
      new_at: '{}',
      new_facts: String.raw`{"[{\"of\":\"a\"}]","{\"of\":\"b\"}"}`,
    })
  })

  test.each([
    ['at', new Date(0), "at: a row of parameters can't hold Date as timestamp (3) with time zone"],
    ['facts', new Date(0), "facts: a row of parameters can't hold Date as jsonb"],
    ['words', ['a'], "words: a row of parameters can't hold Array as text[]"],
    ['id', { of: 'a' }, "id: a row of parameters can't hold Object as text"],
  ])('refuses a date or a list that is not JSON, and names its column: %s', (name, value, message) => {
    expect(() => values([{ id: 'a', [name]: value }])).toThrow(message)
  })
})
