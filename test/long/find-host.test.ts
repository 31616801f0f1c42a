import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCode } from '../../src/engine/base/errors.ts'
import { isUnavailable, type OpenDatabase } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { freePort } from '../support/setup/managed-process.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'

// Connection strings with several hosts: an unreachable one, a read-only one and a writable one. The tests
// swap the roles of the two servers as a failover does.

let nobody: string
let one: PostgresServer
let two: PostgresServer
beforeAll(async () => {
  nobody = `127.0.0.1:${await freePort()}`
  const servers = await Promise.all([startPostgres(), startPostgres()])
  one = servers[0]
  two = servers[1]
})
afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()])
})

const hostOf = ({ url }: PostgresServer) => new URL(url).host

// Both servers share one password, because a connection string has only one.
async function prepare() {
  for (const { url } of [one, two]) {
    const admin = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} })
    await admin`alter role postgres password 'both'`
    await admin.end()
  }
}
const addressOf = (hosts: string[], rest = '') =>
  `postgres://postgres:both@${hosts.join(',')}/postgres${rest}`

const withAdmin = async (server: PostgresServer, statement: string) => {
  const admin = postgres(addressOf([hostOf(server)]), { max: 1, fetch_types: false, onnotice: () => {} })
  await admin.unsafe(statement)
  await admin.unsafe('select pg_reload_conf()')
  await admin.end()
}
const letWrite = (server: PostgresServer, isWritable: boolean) =>
  withAdmin(server, `alter system set default_transaction_read_only = ${isWritable ? 'off' : 'on'}`)

const portOf = async ({ db }: OpenDatabase): Promise<number> => {
  const [row] = (await db.execute(sql`select current_setting('port')::integer as port`)) as unknown as {
    port: number
  }[]
  return row?.port ?? 0
}
const open = (url: string) => openDatabase({ databaseUrl: url, dataDir: '' })

test('the writable host is found, migrated, and found again after a failover', async () => {
  await prepare()
  await letWrite(one, false)
  const url = addressOf([nobody, hostOf(one), hostOf(two)], '?target_session_attrs=read-write')
  const opened = await open(url)
  await opened.migrate()
  expect(await opened.whyUnready()).toBe(null)
  expect(await portOf(opened)).toBe(Number(new URL(two.url).port))

  // The roles change while both servers stay up, as after a managed switchover.
  await letWrite(one, true)
  const migrated = await open(addressOf([hostOf(one)]))
  await migrated.migrate()
  await migrated.close()
  await letWrite(two, false)
  const write = () =>
    opened.db.execute(sql`create table if not exists written as select 1`).then(
      () => portOf(opened),
      (error: unknown) => (isUnavailable(error) ? 'unavailable' : errorCode(error)),
    )
  await expect.poll(write, { timeout: 20_000, interval: 100 }).toBe(Number(new URL(one.url).port))
  await expect.poll(() => opened.whyUnready(), { timeout: 20_000 }).toBe(null)
  await opened.close()
  await letWrite(two, true)
})

test('the writable host is the default of several', async () => {
  await letWrite(one, false)
  const opened = await open(addressOf([hostOf(one), hostOf(two)]))
  expect(await portOf(opened)).toBe(Number(new URL(two.url).port))
  await opened.close()
  const reading = await open(addressOf([hostOf(two), hostOf(one)], '?target_session_attrs=read-only'))
  expect(await portOf(reading)).toBe(Number(new URL(one.url).port))
  await reading.close()
  await letWrite(one, true)
})

test('a list without a suitable or reachable host fails at once', async () => {
  const standby = await open(addressOf([hostOf(one), hostOf(two)], '?target_session_attrs=standby'))
  const refused = await standby.db.execute(sql`select 1`).catch((error: unknown) => error)
  expect([errorCode(refused), isUnavailable(refused)]).toEqual(['CONNECTION_NO_HOST', true])
  expect(await standby.whyUnready()).toMatchObject({ reason: 'UNREACHABLE' })
  await standby.close()
  const gone = await open(addressOf([nobody, nobody]))
  const began = performance.now()
  const lost = await gone.db.execute(sql`select 1`).catch((error: unknown) => error)
  expect([errorCode(lost), isUnavailable(lost)]).toEqual(['ECONNREFUSED', true])
  expect(performance.now() - began).toBeLessThan(5_000)
  await gone.close()
})
