import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { query } from '../../src/engine/data/query.ts'
import { openTestDatabase, shared } from '../support/harness.ts'
import { heldBytes } from '../support/heap.ts'
import { preparedIn } from '../support/prepared-statements.ts'

// Statements whose names clients choose, by what they ask for: test/long/chosen-statements.test.ts walks those that
// there are.

// Statements that a session prepares at most.
const maxPrepared = 300

const database = shared(openTestDatabase)

// As long as a page of events.
const text = (name: string) => () =>
  sql`select ${sql.placeholder('one')}::integer as ${sql.identifier(name)} ${sql.raw(`--${'x'.repeat(4_000)}`)}`
const choose = (name: string) => query(name, text(name))(database.db, { one: 1 })
const own = query<{ own: number }>('own', text('own'))

test('a statement that is used again and again is prepared, and one that is not is kept nowhere', async () => {
  for (let number = 0; number < 20; number++) await choose(`rare_first_${number}`)
  const before = await heldBytes()
  for (let number = 0; number < 1_000; number++) {
    await choose(`rare_${number}`)
    if (number % 10 === 0) await Promise.all([choose('common'), own(database.db, { one: 1 })])
  }
  const kept = (await preparedIn(database.db)).flat()
  const named = (name: string) => kept.filter((text) => text.includes(`"${name}`)).length
  expect(named('rare_')).toBe(0)
  expect(named('common"')).toBeGreaterThan(0)
  expect(named('own"')).toBeGreaterThan(0)
  expect((await heldBytes()) - before).toBeLessThan(6 * 2 ** 20)
})

test('a session is replaced that has prepared many, and goes on with those in use', async () => {
  for (let number = 0; number < 1.2 * maxPrepared; number++)
    for (let time = 0; time < 6; time++) {
      await choose(`chosen_${number}`)
      if (time === 0) await own(database.db, { one: 1 })
    }
  const kept = await preparedIn(database.db)
  const longest = kept.toSorted((one, other) => other.length - one.length)[0] ?? []
  // Of the session in its place, which is what one client at a time uses.
  expect(longest.length).toBeLessThan(0.5 * maxPrepared)
  expect(longest.some((text) => text.includes('"own"'))).toBe(true)
})
