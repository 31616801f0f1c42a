import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenDatabase, type ReplicaStatus, runSql } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { inDatabase } from '../support/setup/database.ts'
import { findUser, freePort, makeFolder, spawnManaged } from '../support/setup/managed-process.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'
import { emptyDatabase, findDebianPostgres } from './debian-postgres.ts'

// A standby of PostgreSQL as it is, and what the service makes of it. test/postgres/replicas.test.ts has what is read then.

let primary: PostgresServer
let folder: string
let stopStandby: () => Promise<void>
let database: OpenDatabase
let standby: OpenDatabase
const news: ReplicaStatus[] = []

beforeAll(async () => {
  const debian = await findDebianPostgres()
  const user = await findUser()
  primary = await startPostgres({}, undefined, debian)
  const databaseUrl = await emptyDatabase(primary, 'box')
  const migrated = await openDatabase({ databaseUrl, dataDir: '' })
  await migrated.migrate()
  await migrated.close()
  folder = await makeFolder('standby', user)
  const data = join(folder, 'data')
  const as = { ...user, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
  const copy = ['--write-recovery-conf', '--checkpoint=fast', '-d', primary.url, '-D', data]
  await promisify(execFile)(join(debian, 'bin/pg_basebackup'), copy, as)
  const port = await freePort()
  // As many connections as its primary has.
  const flags = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200' }
  const given = Object.entries(flags).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  stopStandby = await spawnManaged(join(debian, 'bin/postgres'), ['-D', data, ...given], {
    ...{ folder, user, signal: 'QUIT', readyText: 'ready to accept read-only connections' },
  })
  const replicaUrl = new URL(inDatabase(primary.url, 'box'))
  replicaUrl.port = String(port)
  database = await openDatabase({ databaseUrl, dataDir: '', databaseReplicaUrls: [replicaUrl.href] })
  standby = await openDatabase({ databaseUrl: replicaUrl.href, dataDir: '' })
})
afterAll(async () => {
  await standby?.close()
  await database?.close()
  await stopStandby?.()
  await primary?.stop()
  await rm(folder, { recursive: true, force: true })
})

const told = (times: number) =>
  expect.poll(() => news.map(({ isUp, code }) => code ?? isUp), { timeout: 30_000 }).toHaveLength(times)

test('a standby is read while it follows its primary, and neither while it stands still nor once it is promoted', async () => {
  await database.followReplicas?.((status) => news.push(status))
  await told(1)
  await runSql(standby.db, 'select pg_wal_replay_pause()')
  await runSql(database.db, `create table written ()`)
  await told(2)
  await runSql(standby.db, 'select pg_wal_replay_resume()')
  await told(3)
  await runSql(standby.db, 'select pg_promote()')
  await told(4)
  expect(news.map(({ isUp, code }) => code ?? isUp)).toEqual([true, 'BEHIND', true, 'NO_REPLICA'])
})
