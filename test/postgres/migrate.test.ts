// Runs in: postgres

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/harness.ts'

const built = fileURLToPath(new URL('../../dist/engine/database/open.js', import.meta.url))
const program = `
  const { openDatabase } = await import(process.argv[1])
  const database = await openDatabase({ databaseUrl: process.env.DATABASE_URL, dataDir: '' })
  await database.migrate()
  console.log((await database.whyUnready()) === null)
  await database.close()`

test('six processes migrate an empty database concurrently without a failure', async () => {
  const empty = await createTestDatabase({ empty: true })
  const migrating = Array.from({ length: 6 }, () =>
    promisify(execFile)('node', ['--input-type=module', '--eval', program, built], {
      env: { ...process.env, ...empty.settings },
    }),
  )
  const answers = await Promise.all(migrating)
  expect(answers.map(({ stdout }) => stdout.trim())).toEqual(Array(6).fill('true'))
  await empty.drop()
})

test('twelve connections of one process migrate an empty database concurrently without a failure', async () => {
  const empty = await createTestDatabase({ empty: true })
  const databases = await Promise.all(Array.from({ length: 12 }, () => empty.open()))
  await Promise.all(databases.map((database) => database.migrate()))
  for (const database of databases) expect(await database.whyUnready()).toBeNull()
  await Promise.all(databases.map((database) => database.close()))
  await empty.drop()
})
