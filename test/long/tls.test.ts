import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseConfig } from '../../src/app/settings.ts'
import { isUnavailable, type OpenDatabase } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { issued, localhost, rolePostgres } from '../support/certificates.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { mustStartServer, runCli } from '../support/processes.ts'
import { inDatabase } from '../support/setup/database.ts'
import { findUser } from '../support/setup/managed-process.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'

// A database over TLS. The driver upgrades a socket that the pool opened; the pool's timeouts destroy the raw
// socket below. Over TCP it lets in the role postgres by its certificate alone, and any other by its password.

let folder: string
/** Writes a file that the server may read, and returns its path. */
async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text, { mode: 0o600 })
  const user = await findUser()
  if (user) for (const each of [folder, path]) await chown(each, user.uid, user.gid)
  return path
}

let server: PostgresServer
let proxy: DatabaseProxy
let opened: OpenDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-tls-'))
  server = await startPostgres({
    ssl: 'on',
    ssl_cert_file: await write('certificate.pem', localhost.certificate),
    ssl_key_file: await write('key.pem', localhost.key),
    ssl_ca_file: await write('clients.pem', rolePostgres.certificate),
    hba_file: await write('hba.conf', 'hostssl all guest all cert map=guests\nhost all all all password\n'),
    ident_file: await write('ident.conf', 'guests postgres guest\n'),
  })
  proxy = await startDatabaseProxy(server.url)
  opened = await openDatabase(
    { databaseUrl: `${proxy.url}?sslmode=require`, dataDir: '' },
    { statementTimeoutMs: 1_000 },
  )
})
afterAll(async () => {
  proxy?.setMode('open')
  await opened?.close()
  await proxy?.close()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

const usesTls = async () => {
  const rows = (await opened.db.execute(
    sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`,
  )) as unknown as { ssl: boolean }[]
  return rows[0]?.ssl
}

test('statements and transactions run over TLS', async () => {
  expect(await Promise.all(Array.from({ length: 20 }, usesTls))).toEqual(Array(20).fill(true))
  expect(await opened.db.transaction((tx) => tx.execute(sql`select 1`))).toHaveLength(1)
})

test('a TLS connection that goes silent or is reset is given up', async () => {
  proxy.setMode('silent')
  const began = performance.now()
  const failed = await Promise.all(
    Array.from({ length: 20 }, () => usesTls().catch((error: unknown) => isUnavailable(error))),
  )
  expect(failed).toEqual(Array(20).fill(true))
  expect(performance.now() - began).toBeLessThan(4_000)
  proxy.setMode('open')
  await expect.poll(() => usesTls().catch(() => false), { timeout: 10_000 }).toBe(true)
  const running = opened.db.execute(sql`select pg_sleep(0.5)`).then(
    () => 'done',
    (error: unknown) => isUnavailable(error),
  )
  setTimeout(proxy.reset, 100)
  expect(await running).toBe(true)
  await expect.poll(() => usesTls().catch(() => false), { timeout: 10_000 }).toBe(true)
})

const atHost = (host: string, mode?: string) =>
  `${server.url.replace('127.0.0.1', host)}${mode ? `?sslmode=${mode}` : ''}`

/** Opens the database as these settings say. Resolves to whether a statement runs over TLS, or to the reason
 *  and code of the failure. */
async function reach(settings: Record<string, string>) {
  const database = await openDatabase(parseConfig(settings))
  try {
    const unready = await database.whyUnready()
    if (unready && unready.reason !== 'MIGRATIONS_MISSING') return unready
    const [row] = (await database.db.execute(
      sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`,
    )) as unknown as { ssl: boolean }[]
    return { ssl: row?.ssl }
  } finally {
    await database.close()
  }
}

const known = { DATABASE_SSL_CA: localhost.certificate }
const strange = { DATABASE_SSL_CA: rolePostgres.certificate }
const refused = (code: string) => ({ reason: 'TLS_FAILED', code })

test.each<[string, () => Record<string, string>, object]>([
  ['no mode', () => ({ DATABASE_URL: atHost('127.0.0.1') }), { ssl: false }],
  [
    'DATABASE_SSL=require',
    () => ({ DATABASE_URL: atHost('127.0.0.1'), DATABASE_SSL: 'require' }),
    { ssl: true },
  ],
  [
    "the URL's mode before the common one",
    () => ({ DATABASE_URL: atHost('127.0.0.1', 'disable'), DATABASE_SSL: 'require' }),
    { ssl: false },
  ],
  ['the right authority and name', () => ({ DATABASE_URL: atHost('localhost'), ...known }), { ssl: true }],
  [
    'another name, which only verify-full looks at',
    () => ({ DATABASE_URL: atHost('127.0.0.1', 'verify-ca'), ...known }),
    { ssl: true },
  ],
  [
    'an address that the certificate does not name',
    () => ({ DATABASE_URL: atHost('127.0.0.1'), ...known }),
    refused('ERR_TLS_CERT_ALTNAME_INVALID'),
  ],
  [
    'another authority',
    () => ({ DATABASE_URL: atHost('localhost'), ...strange }),
    refused('DEPTH_ZERO_SELF_SIGNED_CERT'),
  ],
  [
    'another authority and require, which verifies with an authority of our own',
    () => ({ DATABASE_URL: atHost('localhost', 'require'), ...strange }),
    refused('DEPTH_ZERO_SELF_SIGNED_CERT'),
  ],
  [
    'no authority that knows it',
    () => ({ DATABASE_URL: atHost('localhost', 'verify-full') }),
    refused('DEPTH_ZERO_SELF_SIGNED_CERT'),
  ],
])('TLS with %s', async (_, settings, expected) => {
  expect(await reach(settings())).toEqual(expected)
})

test('a client shows its certificate, and migrates with it', async () => {
  await opened.db.execute(sql`create role guest login`)
  await opened.db.execute(sql`create database guests owner guest`)
  const url = inDatabase(atHost('localhost').replace(/\/\/.*@/, '//guest@'), 'guests')
  expect(await reach({ DATABASE_URL: url, ...known })).toMatchObject({
    reason: 'ACCESS_REFUSED',
    code: '28000',
  })
  const shown = { DATABASE_SSL_CERT: rolePostgres.certificate, DATABASE_SSL_KEY: rolePostgres.key }
  const settings = { DATABASE_URL: url, ...known, ...shown }
  expect(await runCli(['migrate'], settings)).toMatchObject({ code: 0, errors: '' })
  expect(await reach(settings)).toEqual({ ssl: true })
  expect(await runCli(['migrate'], { ...settings, ...strange })).toMatchObject({
    code: 1,
    errors: expect.stringMatching(
      /^The database and this process agree on no TLS, .* DATABASE_SSL_CA.*\(DEPTH/,
    ),
  })
})

test('a server without TLS is reported, and not used without', async () => {
  const plain = await startPostgres()
  const found = await reach({ DATABASE_URL: plain.url, DATABASE_SSL: 'require' })
  await plain.stop()
  expect(found).toMatchObject({ reason: 'TLS_FAILED' })
})

test('an authority that is missing is named as TLS by /ready, by a command and by doctor', async () => {
  const cloud = await startPostgres({
    ssl: 'on',
    ssl_cert_file: await write('issued.pem', issued.certificate),
    ssl_key_file: await write('issued-key.pem', issued.key),
  })
  const settings = { DATABASE_URL: cloud.url.replace('127.0.0.1', 'localhost'), DATABASE_SSL: 'verify-full' }
  const code = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
  expect(await reach(settings)).toEqual(refused(code))
  const service = await mustStartServer({ ...settings, BACKGROUND: 'off' })
  expect(await (await fetch(`${service.url}/ready`)).json()).toMatchObject({ reason: 'TLS_FAILED' })
  await service.stop()
  const named = expect.stringMatching(/agree on no TLS, .* see DATABASE_SSL, DATABASE_SSL_CA/)
  expect(await runCli(['migrate'], settings)).toMatchObject({ code: 1, errors: named })
  expect(await runCli(['doctor'], settings)).toMatchObject({ code: 2, output: named })
  expect(await reach({ ...settings, DATABASE_SSL_CA: issued.authority })).toEqual({ ssl: true })
  await cloud.stop()
})
