import { afterAll, beforeAll, expect, test } from 'vitest'
import { isDistributed, type OpenDatabase } from '../../../src/engine/database/database.ts'
import { commandRunner } from '../../support/commands.ts'
import { openTestDatabase } from '../../support/harness.ts'

let database: OpenDatabase
const commands = commandRunner(() => database)
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

test('a database without Citus is not distributed, and says what is missing', async () => {
  const { code, errors } = await commands.fail('distribute')
  expect(code).toBe(1)
  expect(errors).toMatch(/Citus (extension|cluster)/)
  expect(await database.whyUnready()).toBeNull()
  expect(isDistributed(database.db)).toBe(false)
})

test('distribute takes no arguments', async () => {
  expect(await commands.fail('distribute', 'now')).toMatchObject({ code: 2 })
})
