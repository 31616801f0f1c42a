// Runs in: unit

import { expect, test } from 'vitest'
import { commandRunner } from '../support/commands.ts'
import { runCli, runSeed } from '../support/processes.ts'

// Output of the command line that needs no database.

const { json, fail } = commandRunner(() => {
  throw new Error('a database was opened')
})
const outOfReach = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }

test('the file schema is printed without a database', async () => {
  expect(await json('import', '--schema')).toMatchObject({ type: 'object', properties: { events: {} } })
})

const usage = '\nRun it with --help to see how.'

test.each<[args: string, errors: string]>([
  ['', `Name a command${usage}`],
  ['sell', `There is no command sell${usage}`],
  ['key list --colour', ''],
  ['key list --name x', `key list takes no --name here${usage}`],
  ['key list all', `key list takes no further words${usage}`],
  ['import', `import needs FILE${usage}`],
  ['key issue channel --name x', `key issue channel needs --organization${usage}`],
  [
    'key issue channel --organization org_1 --name x --all',
    `key issue channel takes no --organization here${usage}`,
  ],
  ['grant add --channel chn_1', `grant add needs --organization${usage}`],
  ['grant add --channel chn_1 --organization org_1 --all', `grant add takes no --organization here${usage}`],
  ['key issue channel --organization a/b --name x', `--organization must be an identifier.${usage}`],
  [
    'key issue channel --organization org_1 --name x\u202ey',
    `--name must be one line of printable text, without invisible characters.${usage}`,
  ],
  [
    'key issue channel --organization org_1 --name x --expires soon',
    `--expires must be an ISO 8601 date or timestamp.${usage}`,
  ],
])('boxoffice %s', async (args, errors) => {
  const failed = await fail(...args.split(' ').filter(Boolean))
  expect(failed.code).toBe(2)
  if (errors) expect(failed.errors).toBe(errors)
})

// The tests from here on start a process, to check streams and exit codes.
test('help exits with 0', async () => {
  const { code, output, errors } = await runCli(['--help'], outOfReach)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(output).toContain('key issue channel')
})

test('a usage mistake sets the exit code', async () => {
  const ended = await runCli(['sell'], outOfReach)
  expect(ended).toEqual({ code: 2, output: '', errors: `There is no command sell${usage}\n` })
})

test('a usage mistake of seed sets the exit code', async () => {
  const ended = await runSeed(['--events', 'none'], outOfReach)
  expect(ended).toMatchObject({ code: 2, output: '', errors: expect.stringContaining('npm run seed') })
})

test('wrong settings and an unreachable database are reported', async () => {
  const wrong = await runCli(['key', 'list'], { DATABASE_URL: 'mysql://here' })
  expect(wrong).toEqual({
    code: 1,
    output: '',
    errors: 'Settings are wrong:\n  DATABASE_URL: must be a postgres:// address\n',
  })
  const away = await runCli(['key', 'list'], { DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none' })
  expect(away.code).toBe(1)
  expect(away.errors).toBe('The database is out of reach: see DATABASE_URL (ECONNREFUSED)\n')
  expect(away.errors).not.toContain('hunter2')
})

test('doctor reports what it can not examine on standard output, with its own exit code', async () => {
  const wrong = await runCli(['doctor'], { DATABASE_URL: 'mysql://here' })
  expect(wrong).toEqual({
    code: 2,
    output: 'BROKEN  settings    Settings are wrong:\n  DATABASE_URL: must be a postgres:// address\n',
    errors: '',
  })
  for (const command of ['doctor', 'verify']) {
    const away = await runCli([command], { DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none' })
    expect(away).toMatchObject({ code: 2, errors: '' })
    expect(away.output).toMatch(
      /BROKEN +database +the database is out of reach: see DATABASE_URL \(ECONNREFUSED\)\n$/,
    )
    expect(away.output).not.toContain('hunter2')
  }
})
