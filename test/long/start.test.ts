// Runs in: long, first

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer, type ServerProcess, startServer } from '../support/processes.ts'
import { freePort } from '../support/setup/managed-process.ts'

// Messages of the built service about problems at its start.

let database: TestDatabase
let empty: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  empty = await createTestDatabase({ empty: true })
})
afterAll(async () => {
  await database.drop()
  await empty.drop()
})

const addressOf = ({ settings }: TestDatabase) => new URL(settings.DATABASE_URL ?? '')

type Line = { level: string; msg: string; reason?: string; code?: string }

const warningsOf = ({ output }: ServerProcess): Line[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Line => JSON.parse(line))
    .filter(({ level }) => level === 'warn')

/** Waits until the service listens. Returns its warnings and the response of /ready. */
async function startedOn(url: URL) {
  const server = await mustStartServer({ DATABASE_URL: url.href })
  const ready = await fetch(`${server.url}/ready`)
  const answer = { status: ready.status, ...((await ready.json()) as object) }
  const warnings = warningsOf(server)
  // The first of them tries to connect, and the others are refused because it fails.
  const refused = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { status, headers } = await fetch(`${server.url}/events`, {
        headers: { integration_id: 'int_1', secret: 'x'.repeat(43) },
      })
      return `${status}, retry after ${headers.get('retry-after')} s`
    }),
  )
  expect(server.output() + server.errors()).not.toContain(url.password)
  expect(await server.stop()).toBe(0)
  return { warnings, answer, refused }
}

test('a wrong password, a wrong database, an unreachable host and missing tables have different messages', async () => {
  const wrongPassword = addressOf(database)
  wrongPassword.password = 'hunter2hunter2'
  const wrongName = addressOf(database)
  wrongName.pathname = '/nothing_here'
  const nobody = addressOf(database)
  nobody.port = String(await freePort())
  const started = await Promise.all([wrongPassword, wrongName, nobody].map(startedOn))
  expect(
    started.map(({ warnings: [warning], answer, refused }) => [
      warning?.reason,
      warning?.code,
      warning?.msg,
      (answer as { reason?: string }).reason,
      refused,
    ]),
  ).toEqual([
    ['ACCESS_REFUSED', '28P01', expect.stringContaining('password'), 'ACCESS_REFUSED', busy],
    ['ACCESS_REFUSED', '3D000', expect.stringContaining('name of the database'), 'ACCESS_REFUSED', busy],
    ['UNREACHABLE', 'ECONNREFUSED', expect.stringContaining('out of reach'), 'UNREACHABLE', busy],
  ])
  const { warnings, answer } = await startedOn(addressOf(empty))
  expect(warnings).toMatchObject([
    { reason: 'MIGRATIONS_MISSING', msg: expect.stringContaining('npm run migrate') },
  ])
  expect(answer).toMatchObject({ reason: 'MIGRATIONS_MISSING' })
})

const busy = Array.from({ length: 8 }, () => '503, retry after 1 s')

test('a role without the right to connect is reported as refused, not as an internal error', async () => {
  const owner = postgres(database.settings.DATABASE_URL ?? '', { max: 1, onnotice: () => {} })
  const url = addressOf(database)
  const name = url.pathname.slice(1)
  await owner.unsafe(`revoke connect on database ${name} from public`)
  await owner.unsafe(`create role ${name}_guest login password 'guest-password'`)
  url.username = `${name}_guest`
  url.password = 'guest-password'
  const { warnings, answer, refused } = await startedOn(url)
  expect(warnings).toMatchObject([{ reason: 'ACCESS_REFUSED', code: '42501' }])
  expect(answer).toMatchObject({ reason: 'ACCESS_REFUSED' })
  expect(refused).toEqual(busy)
  await owner.unsafe(`drop role ${name}_guest`)
  await owner.end()
})

test('a port in use is reported with the setting to change, by one process and by several', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  for (const WEB_CONCURRENCY of ['1', '2']) {
    const ended = await startServer({ ...database.settings, PORT: String(port), WEB_CONCURRENCY })
    expect(ended).toMatchObject({ code: 1 })
    expect(ended.errors).toContain(`Port ${port} of 127.0.0.1 is taken`)
    expect(ended.errors).toContain('PORT')
    expect(ended.errors).not.toContain('EADDRINUSE')
  }
  taken.close()
})

test('a folder that cannot be written is reported with its setting', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-start-'))
  const file = join(folder, 'file')
  await writeFile(file, '')
  const inFile = join(file, 'folder')
  const embedded = await startServer({ DATA_DIR: inFile })
  const mails = await startServer({ ...database.settings, MAIL_DIR: inFile })
  await rm(folder, { recursive: true })
  for (const [ended, setting] of [
    [embedded, 'DATA_DIR'],
    [mails, 'MAIL_DIR'],
  ] as const)
    expect(ended).toMatchObject({
      code: 1,
      errors: `The folder ${inFile} can't be written (ENOTDIR): set ${setting} to one that this process may write.\n`,
    })
})

test('certificates that are missing, wrong or not trusted are reported with their setting', async () => {
  const start = (settings: Record<string, string>) => startServer({ ...database.settings, ...settings })
  expect(await start({ DATABASE_SSL_CA_FILE: '/nowhere/ca.pem' })).toMatchObject({
    code: 1,
    errors: "Settings are wrong:\n  DATABASE_SSL_CA_FILE: the file can't be read (ENOENT)\n",
  })
  expect(await start({ DATABASE_SSL_CA_FILE: fileURLToPath(import.meta.url) })).toMatchObject({
    code: 1,
    errors: 'Settings are wrong:\n  DATABASE_SSL_CA: must be a certificate in PEM\n',
  })
  // The server has no TLS at all.
  const url = addressOf(database)
  url.searchParams.set('sslmode', 'require')
  const { warnings, answer, refused } = await startedOn(url)
  expect(warnings).toMatchObject([{ reason: 'TLS_FAILED', msg: expect.stringContaining('DATABASE_SSL_CA') }])
  expect(answer).toMatchObject({ reason: 'TLS_FAILED' })
  expect(refused).toEqual(busy)
})

const unhandled = fileURLToPath(new URL('../../dist/app/shutdown.js', import.meta.url))

async function running(code: string) {
  const program = `import { watchUnhandled } from ${JSON.stringify(unhandled)}
    watchUnhandled({ error: (facts, message) => console.log(JSON.stringify({ ...facts, message })) })
    setTimeout(() => process.exit(0), 300)
    ${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const [status] = await once(child, 'close')
  return { status, output }
}

test('an unhandled connection error is logged and survived, any other ends the process', async () => {
  const lost = `Promise.reject(Object.assign(new Error('secretia'), { code: 'ECONNRESET' }))`
  const ended = `Promise.reject(Object.assign(new Error('secretia'), { severity: 'FATAL', code: '57P01' }))`
  const unheard = `throw Object.assign(new Error('secretia'), { code: 'EBADF', syscall: 'write' })`
  for (const survived of [lost, ended, unheard]) {
    const { status, output } = await running(survived)
    expect([status, output]).toEqual([0, expect.stringMatching(/a connection to the database failed/)])
    expect(output).not.toContain('secretia')
  }
  for (const fault of [`Promise.reject(new Error('secretia'))`, `throw new Error('secretia')`]) {
    const { status, output } = await running(fault)
    expect([status, output]).toEqual([1, expect.stringMatching(/the process ends/)])
    expect(output).not.toContain('secretia')
  }
})

test('a variable that is probably a setting misspelt is named at the start, without its value', async () => {
  const server = await mustStartServer({ ...database.settings, HOLD_MINUTE: 'hunter2hunter2' })
  expect(warningsOf(server).map(({ msg }) => msg)).toEqual([
    'HOLD_MINUTE is no setting: HOLD_MINUTES may be meant',
  ])
  expect(server.output() + server.errors()).not.toContain('hunter2')
  expect(await server.stop()).toBe(0)
})
