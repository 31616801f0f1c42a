import { expect, test } from 'vitest'
import { summaryOf } from '../../src/engine/database/pool/drizzle-driver.ts'

test.each([
  ['select "id" from "events" where "id" = $1', 'SELECT events'],
  ['begin', 'BEGIN'],
  ['rollback', 'ROLLBACK'],
  ["select set_config('x', $1, true)", 'SELECT set_config'],
  ['select * from a join b on a.id = b.id left join "a" as c on true', 'SELECT a SELECT b'],
  ['select id from payments where id = $1 for update skip locked', 'SELECT payments'],
  ['insert into t (a) values ($1) on conflict (a) do update set a = $1', 'INSERT t'],
  ['select from t where a is distinct from b', 'SELECT t'],
  [
    `with given (id) as (select $1), moved as materialized (update stock set held = held + 1 from given returning id)
     insert into tickets select id from moved`,
    'UPDATE stock INSERT tickets',
  ],
])('%s is summarized without values', (text, summary) => {
  expect(summaryOf(text)).toBe(summary)
  expect(summaryOf(text)).toBe(summary)
})

test('a summary has an end', () => {
  const text = Array.from({ length: 500 }, (_, number) => `select from table_${number}`).join(' union all ')
  expect(summaryOf(text).length).toBe(255)
})
