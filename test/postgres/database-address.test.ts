import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/app/settings.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { problemOf } from '../../src/engine/database/pool/failures.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'

// Addresses of a database, as providers and other clients write them.

let database: TestDatabase
let address: URL
let relay: Server
let relayPort: number
beforeAll(async () => {
  database = await createTestDatabase()
  address = new URL(database.settings.DATABASE_URL ?? '')
  // The server of the tests listens on IPv4 alone.
  relay = createServer((socket) => {
    const upstream = connect(Number(address.port), address.hostname)
    for (const end of [socket, upstream]) end.on('error', () => {})
    socket.pipe(upstream).pipe(socket)
  }).listen(0, '::1')
  await once(relay, 'listening')
  relayPort = (relay.address() as AddressInfo).port
})
afterAll(async () => {
  relay?.close()
  await database?.drop()
})

const open = (url: string) => openDatabase(parseConfig({ DATABASE_URL: url }))

/** Opens an address, and returns why the database is unready, and a setting of the session. */
async function tried(url: string, setting = 'random_page_cost') {
  const opened = await open(url)
  try {
    const unready = await opened.whyUnready()
    if (unready) return { unready }
    const [row] = (await opened.db.execute(sql`select current_setting(${setting}) as value`)) as unknown as {
      value: string
    }[]
    return { unready, value: row?.value }
  } finally {
    await opened.close()
  }
}
const withQuery = (query: string, url = address.href) => `${url}?${query}`

describe('parameters', () => {
  test.each([
    'sslmode=disable&channel_binding=require',
    'channel_binding=prefer',
    'gssencmode=disable&gssdelegation=0&gsslib=gssapi&krbsrvname=postgres',
    'gssencmode=prefer',
    'keepalives=1&keepalives_idle=30&keepalives_interval=10&keepalives_count=5',
    'client_encoding=latin1',
    'client_encoding=auto',
    'fallback_application_name=psql&load_balance_hosts=random&sslcompression=0&sslsni=1',
    'pgbouncer=true&connection_limit=1&pool_timeout=0&socket_timeout=5&statement_cache_size=0',
    'schema=public',
    'uselibpqcompat=true&connect_timeout=10',
    '',
  ])('%s are of other clients, and change nothing', async (query) => {
    expect(await tried(withQuery(query))).toEqual({ unready: null, value: '1.1' })
  })

  test('a parameter of the server is given to it, whatever is beside it', async () => {
    const query = 'channel_binding=require&random_page_cost=3&keepalives=0'
    expect(await tried(withQuery(query))).toEqual({ unready: null, value: '3' })
    const named = withQuery('pgbouncer=true&application_name=the%20door')
    expect(await tried(named, 'application_name')).toEqual({ unready: null, value: 'the door' })
    expect(await tried(withQuery('client_encoding=latin1'), 'client_encoding')).toEqual({
      unready: null,
      value: 'UTF8',
    })
  })

  test.each([
    ['chanel_binding=require', 'chanel_binding', '42704'],
    ['schema=tickets', 'schema', '42704'],
    ['gssencmode=require', 'gssencmode', '42704'],
    ['host=%2Fvar%2Frun%2Fpostgresql', 'host', '42704'],
    ['keepalive=secret-value', 'keepalive', '42704'],
    ['statement_timeout=secret-value', 'statement_timeout', '22023'],
    ['max_connections=5', 'max_connections', '55P02'],
  ])('%s is refused by name', async (query, parameter, code) => {
    const { unready } = await tried(withQuery(query))
    expect(unready).toEqual({ reason: 'PARAMETER_REFUSED', code, parameter })
    const said = unready ? problemOf(unready) : ''
    expect(said).toBe(`the server refuses a parameter at the end of DATABASE_URL: ${parameter}`)
    const opened = await open(withQuery(query))
    await expect(opened.migrate()).rejects.toThrow(parameter)
    await opened.close()
  })
})

describe('IPv6', () => {
  const at = (hosts: string, rest = '') =>
    `postgres://${address.username}:${address.password}@${hosts}${address.pathname}${rest}`

  test('an address in brackets is reached, and migrated', async () => {
    const url = at(`[::1]:${relayPort}`, '?channel_binding=require')
    expect((await tried(url)).unready).toBeNull()
    const opened = await open(url)
    await opened.migrate()
    await opened.close()
  })

  test('it may be one of several hosts', async () => {
    const nobody = createServer().listen(0, '::1')
    await once(nobody, 'listening')
    const { port } = nobody.address() as AddressInfo
    nobody.close()
    const hosts = [
      `[::1]:${port},[::1]:${relayPort}`,
      `[::1]:${port},${address.host}`,
      `${address.host},[::1]:${port}`,
    ]
    for (const list of hosts) expect((await tried(at(list))).unready, list).toBeNull()
    const opened = await open(at(hosts[0] ?? ''))
    await opened.migrate()
    await opened.close()
  })
})
