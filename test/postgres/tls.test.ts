import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isUnavailable, type OpenDatabase } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { findUser } from '../support/setup/managed-process.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'

// A database over TLS. The driver upgrades a socket that the pool opened; the pool's timeouts destroy the raw
// socket below.

// A self-signed certificate for localhost, used only here.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYYCfpu/8dPcR/VyJ
XSx7Fr98xpMH6b0eWGg0n37NiuGhRANCAAR146PbkfxCrXOn7pEn4pxTY7ghvalz
/Gw0hj+3WfUnKc9iaHQnxATviXoq0Q4wxkLNw+tchUiOODAZtMUk8sv+
-----END PRIVATE KEY-----
`
const certificate = `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUWhZUOSYhfepo8/qk+tgNeeOFWZYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjA3MTQ0MFoYDzIxMjYxMDI5
MDcxNDQwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR146PbkfxCrXOn7pEn4pxTY7ghvalz/Gw0hj+3WfUnKc9iaHQnxATv
iXoq0Q4wxkLNw+tchUiOODAZtMUk8sv+o1MwUTAdBgNVHQ4EFgQUxzWUDAUkx2cW
ColF5u/yLfRUuLAwHwYDVR0jBBgwFoAUxzWUDAUkx2cWColF5u/yLfRUuLAwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAy0fDLzJJUEaJe6skKGrC
dghDCEVO+NMT3fl/j0t9iwECIQDitP+fE7Z7U1Vir1UHLyA21PtiwsoW1eJUuTSe
s6l9AA==
-----END CERTIFICATE-----
`

let folder: string
let server: PostgresServer
let proxy: DatabaseProxy
let opened: OpenDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-tls-'))
  const user = await findUser()
  const files = { key: join(folder, 'key.pem'), certificate: join(folder, 'certificate.pem') }
  await writeFile(files.key, key, { mode: 0o600 })
  await writeFile(files.certificate, certificate, { mode: 0o600 })
  if (user) for (const path of [folder, ...Object.values(files)]) await chown(path, user.uid, user.gid)
  server = await startPostgres({ ssl: 'on', ssl_cert_file: files.certificate, ssl_key_file: files.key })
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
