import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/engine/database/open.ts'
import { connectionError, problemOf, unreadyBecause } from '../../src/engine/database/pool/failures.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'

// Reasons why a database can't be used, as an operator reads them.

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('a server that has no connection left is not out of reach', async () => {
  const url = new URL(database.settings.DATABASE_URL ?? '')
  const owner = postgres(url.href, { max: 1, onnotice: () => {} })
  const name = `full_${randomBytes(6).toString('hex')}`
  await owner.unsafe(`create role ${name} login password 'full-password' connection limit 0`)
  Object.assign(url, { username: name, password: 'full-password' })
  const full = await openDatabase({ databaseUrl: url.href, dataDir: '' })
  expect(await full.whyUnready()).toEqual({ reason: 'TOO_MANY_CONNECTIONS', code: '53300' })
  await full.close()
  await owner.unsafe(`drop role ${name}`)
  await owner.end()
})

test.each([
  ['53300', /no connection left.*max_connections/],
  ['57P03', /starts or shuts down/],
  ['57P01', /starts or shuts down/],
  ['28P01', /refuses the role/],
  ['3D000', /name of the database/],
  ['42P01', /run npm run migrate/],
  ['ECONNREFUSED', /out of reach/],
  ['CONNECT_TIMEOUT', /out of reach/],
])('%s is told in its own words', (code, words) => {
  const { reason } = unreadyBecause(connectionError('no', code))
  expect(problemOf({ reason })).toMatch(words)
})
