// Runs in: long, first

import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { metricsUrlOf, scrape, sumOf } from '../support/metrics.ts'
import {
  mustStartDemo,
  mustStartServer,
  runCli,
  type ServerProcess,
  startServer,
} from '../support/processes.ts'
import { makeDatabaseFolder } from '../support/setup/temporary-folder.ts'

// Commands on the embedded database while a process serves it: they reach that process. What it sells meanwhile is
// in a backup, or was not sold yet.

const run = promisify(execFile)

let parent: string
let folder: string
let server: ServerProcess
let demo: { key: string; channel_id: string; integration_key: string }

beforeAll(async () => {
  parent = await makeDatabaseFolder('commands')
  folder = join(parent, 'data')
  server = await mustStartDemo({ DATA_DIR: folder, RATE_LIMIT: 'off', METRICS_PORT: '0' })
  demo = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'))
})
afterAll(async () => {
  await server.stop('SIGKILL')
  await rm(parent, { recursive: true, force: true })
})

const cli = (command: string, settings = {}) => runCli(command.split(' '), { DATA_DIR: folder, ...settings })

const statusWith = async (key: string, url = server.url) =>
  (await fetch(`${url}/events?limit=1`, { headers: { 'x-api-key': key } })).status

const gift = () => `mutation { issueInvitations(input: { ticketRateId: "rate_demo_8_1",
  guests: [{ fullName: "Ana Núñez", email: "ana@example.com" }], idempotencyKey: "${crypto.randomUUID()}" }) {
  ... on IssueInvitationsPayload { tickets { id } } ... on Refused { errors { code message } } } }`

async function sell(): Promise<string> {
  const headers = { 'x-api-key': demo.integration_key, 'content-type': 'application/json' }
  const body = JSON.stringify({ query: gift() })
  const answer = await (await fetch(`${server.url}/graphql`, { method: 'POST', headers, body })).json()
  return answer.data.issueInvitations.tickets[0].id
}

test('a key is issued, used and revoked while the service runs, and nobody else may ask for it', async () => {
  const { code, output } = await cli('key issue channel --name Zoë --organization org_demo_luna --json')
  expect(code).toBe(0)
  const { key } = JSON.parse(output)
  expect(await statusWith(key)).toBe(200)
  expect((await cli(`key revoke ${key}`)).code).toBe(0)
  expect(await statusWith(key)).toBe(401)
  expect((await stat(join(folder, 'commands.sock'))).mode & 0o777).toBe(0o600)
})

test('the service keeps up its database', async () => {
  const isDone = { name: 'upkeep', outcome: 'done' }
  const runs = async () =>
    sumOf(await scrape(metricsUrlOf(server)), 'boxoffice_job_duration_seconds_count', isDone)
  await expect.poll(runs).toBeGreaterThan(0)
})

test('the key of the shop is good in a page that somebody develops on this machine', async () => {
  const { publishable_key } = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'))
  const headers = { 'x-api-key': publishable_key, origin: 'http://localhost:5173' }
  expect((await fetch(`${server.url}/events?limit=1`, { headers })).status).toBe(200)
})

test('files, mistakes and exit codes are those of whoever runs the command', async () => {
  const event = {
    _id: 'evt_cli',
    name: 'Añejo',
    start_date: '2099-01-01T20:00:00Z',
    end_date: '2099-01-01T22:00:00Z',
  }
  const organization = { _id: 'org_cli', name: 'Sala', currency: 'EUR' }
  const location = { _id: 'loc_cli', name: 'Sala', organization_id: 'org_cli' }
  const file = join(parent, 'catalogue.json')
  const linked = { ...event, organization_id: 'org_cli', location_id: 'loc_cli', ticket_rates: [] }
  await writeFile(
    file,
    JSON.stringify({ organizations: [organization], locations: [location], events: [linked] }),
  )
  const imported = await cli(`import ${file} --json`)
  expect(imported.errors).toBe('')
  expect(JSON.parse(imported.output)).toMatchObject({ events: { added: 1 } })
  expect(await cli(`import ${parent}/none.json`)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('ENOENT'),
  })
  expect(await cli('sell')).toMatchObject({ code: 2, output: '' })
  expect((await cli('doctor')).output).toMatch(/^ok +settings /)
})

test('a backup of a service that sells is whole, and is restored to an empty folder alone', async () => {
  const before = await sell()
  let isSelling = true
  const sales = (async () => {
    const sold: string[] = []
    while (isSelling) sold.push(await sell())
    return sold
  })()
  const backup = join(parent, 'backup.tgz')
  expect(await cli(`backup ${backup}`)).toMatchObject({ code: 0, errors: '' })
  isSelling = false
  expect((await sales).length).toBeGreaterThan(0)
  expect((await stat(backup)).mode & 0o777).toBe(0o600)

  const other = join(parent, 'other')
  const elsewhere = { DATA_DIR: other }
  expect(await cli(`restore ${backup}`)).toMatchObject({
    code: 1,
    errors: expect.stringContaining(`${folder} is open in process ${server.child.pid}`),
  })
  const damaged = join(parent, 'damaged.tgz')
  const bytes = await readFile(backup)
  for (const content of [Buffer.from('no archive'), bytes.subarray(0, bytes.length / 2)]) {
    await writeFile(damaged, content)
    const refused = await cli(`restore ${damaged}`, elsewhere)
    expect(refused).toMatchObject({ code: 1, output: '' })
    expect(refused.errors).toContain(`${damaged} can't be restored in ${other}: it is no whole backup`)
    expect((await readdir(other)).filter((name) => !name.startsWith('lock.'))).toEqual([])
  }
  expect(await cli(`restore ${backup}`, elsewhere)).toMatchObject({ code: 0, errors: '' })
  expect(await cli(`restore ${backup}`, elsewhere)).toMatchObject({
    code: 1,
    errors: expect.stringContaining(`${other} is not empty`),
  })
  expect(await cli(`restore ${backup} --force`, elsewhere)).toMatchObject({ code: 0, errors: '' })
  const restored = await mustStartServer(elsewhere)
  try {
    const found = await fetch(`${restored.url}/integrations/tickets/${before}`, {
      headers: { 'x-api-key': demo.integration_key },
    })
    expect(found.status).toBe(200)
    expect((await cli('verify', elsewhere)).output).toMatch(/^ok +invariants +all \d+ hold/)
  } finally {
    await restored.stop('SIGKILL')
  }
  // It starts a dozen processes.
}, 900_000)

test('with PostgreSQL, backup names the tool for it', async () => {
  const refused = await cli('backup x', { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  expect(refused).toEqual({
    code: 1,
    output: '',
    errors: 'DATABASE_URL is set: use pg_dump for PostgreSQL, see docs/operations.md.\n',
  })
})

test('a damaged folder ends with an error that names it and its setting', async () => {
  const damaged = join(parent, 'other')
  const control = join(damaged, 'postgres', 'global', 'pg_control')
  const named = `The embedded database in ${damaged} (DATA_DIR) can't be opened`
  await rename(control, `${control}.away`)
  await writeFile(control, 'junk')
  expect(await startServer({ DATA_DIR: damaged })).toMatchObject({
    code: 1,
    errors: expect.stringContaining(named),
  })
  await rename(`${control}.away`, control)
  await rename(join(damaged, 'postgres', 'PG_VERSION'), join(damaged, 'PG_VERSION'))
  expect(await cli('key list', { DATA_DIR: damaged })).toMatchObject({
    code: 1,
    errors: expect.stringContaining(named),
  })
})

test('a full disk ends with an error that names the folder and its setting', async () => {
  const small = join(parent, 'small')
  await mkdir(small)
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', small]).then(
    () => true,
    () => false,
  )
  console.log(
    isMounted ? 'a file system of 8 MB is full' : 'no file system can be mounted: a file is in the way',
  )
  if (!isMounted) await writeFile(join(small, 'postgres'), '')
  try {
    expect(await startServer({ DATA_DIR: small })).toMatchObject({
      code: 1,
      errors: expect.stringContaining(`The embedded database in ${small} (DATA_DIR) can't be opened`),
    })
  } finally {
    if (isMounted) await run('umount', ['-l', small])
  }
})
