import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { runCli, runSeed } from '../support/processes.ts'

// Each command in its own process. The walk test covers migrate, import and key issue.

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const cli = (command: string) => runCli(command.split(' '), database.settings)

/** Runs a command that must succeed, and returns its output. */
async function printed(command: string): Promise<string> {
  const { code, output, errors } = await cli(command)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return output
}

test('each command prints its result and exits', async () => {
  const seeded = await runSeed(['--events', '1', '--json'], database.settings)
  expect(JSON.parse(seeded.output)).toMatchObject({ events: { added: 1 } })
  const organization = '--organization org_demo_luna'
  const issued = JSON.parse(await printed(`key issue channel --name Shop ${organization} --json`))
  const channel = `--channel ${issued.channel_id}`
  expect(await printed('key list')).toContain(`${issued.channel_id}  Shop (org_demo_luna)\n`)
  expect(await printed(`grant revoke ${channel} ${organization}`)).toMatch(/ from now on\.\n$/)
  expect(await printed(`grant add ${channel} ${organization}`)).toMatch(/ from now on\.\n$/)
  expect(await printed(`key revoke ${issued.key}`)).toMatch(/^Revoked: key \w+\.\n$/)
  expect(await printed('deliveries list')).toBe('No delivery is dead.\n')
  expect(await printed('deliveries retry --all')).toBe('None of them is dead.\n')
  expect(await printed('erase --email nobody@example.com')).toBe('Nothing is held about them.\n')
  expect(JSON.parse(await printed('export-person --email nobody@example.com'))).toMatchObject({ tickets: [] })
  expect(await printed('doctor')).toMatch(/^ok +settings .*\n(ok .*\n)+$/)
  expect(await printed('verify')).toMatch(/^ok +invariants +all \d+ hold/)
})

test('a failed command prints only its reason, on standard error', async () => {
  expect(await cli('key revoke nobody')).toEqual({
    code: 1,
    output: '',
    errors: 'There is no key, channel or integration of that id.\n',
  })
})
