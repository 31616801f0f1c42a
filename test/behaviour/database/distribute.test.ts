import { expect, test } from 'vitest'
import { isDistributed } from '../../../src/engine/database/database.ts'
import { commandRunner } from '../../support/commands.ts'
import { openTestDatabase, shared } from '../../support/harness.ts'

const commands = commandRunner(() => database)
const database = shared(openTestDatabase)

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
