import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Companion } from '../../../src/app/companion.ts'
import { exampleIds } from '../../../src/domain/contract/ids.ts'
import { createTestDatabase, type Gateway, startGateway, type TestDatabase } from '../../support/harness.ts'

// Pages that hold keys to try the service with. Secret ones are for whoever sits at this machine: not for a page of another
// origin whose name leads to loopback, nor for those at the other end of a proxy.

const keys = {
  key: 'box_test_channel',
  publishableKey: 'box_pub_page',
  integrationKey: 'box_test_integration',
  ...{ doorEventId: 'evt_door', doorTicketId: 'tkt_door' },
}
const secrets = /box_test_\w+/g
const companion: Companion = {
  link: { path: '/shop', name: 'Shop', text: '' },
  findExamples: async () => ({ ...exampleIds, ...keys }),
  addTo: async () => {},
}

let database: TestDatabase
let lines: string[] = []
const opened: Gateway[] = []
async function open(settings: Record<string, string> = {}): Promise<Gateway> {
  lines = []
  const onLog = (line: string) => lines.push(line)
  const gateway = await startGateway({
    database,
    companion,
    settings: { LOG_LEVEL: 'warn', ...settings },
    onLog,
  })
  opened.push(gateway)
  return gateway
}
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  for (const gateway of opened) await gateway.close()
  await database.drop()
})

type Headers = Record<string, string>

/** Secret keys in the pages and in all files that they name. */
async function secretsIn(gateway: Gateway, headers: Headers): Promise<string[]> {
  const get = async (url: string) =>
    (await gateway.rest('GET', url, { headers: { accept: 'text/html', ...headers } })).body
  const page = await get('/docs')
  const files = [...page.matchAll(/="(\/docs\/static\/[^"]+\.js[^"]*)"/g)].map(([, url = '']) => url)
  expect(files.length).toBeGreaterThan(2)
  const bodies = await Promise.all(['/', '/graphql', '/openapi.json', '/docs/json', ...files].map(get))
  expect(bodies[1]).toContain(keys.publishableKey)
  return [...new Set([page, ...bodies].flatMap((body) => body.match(secrets) ?? []))].sort()
}

const all = [keys.key, keys.integrationKey].sort()
const warnings = () => lines.filter((line) => line.includes('shows no secret keys'))

test('whoever sits at the machine is shown the keys, by whatever name of it', async () => {
  const gateway = await open()
  for (const host of ['localhost:4000', '127.0.0.1:4000', 'LOCALHOST', '[::1]:4000', '127.1.2.3'])
    expect(await secretsIn(gateway, { host }), host).toEqual(all)
  expect(warnings()).toEqual([])
})

test('others are shown the publishable key alone, and the log says so once', async () => {
  const gateway = await open()
  for (const host of [
    'rebound.example',
    'localhost.example',
    'localhost.example:4000',
    '127.0.0.1.example',
    '127.0.0.1.nip.io:4000',
    'example.localhost.',
    '192.168.1.4:4000',
    '[::ffff:192.168.1.4]:4000',
    '0.0.0.0:4000',
  ])
    expect(await secretsIn(gateway, { host }), host).toEqual([])
  const forwarded: Headers[] = [
    { 'x-forwarded-for': '192.0.2.1' },
    { 'x-forwarded-host': 'tickets.example' },
    { forwarded: 'for=192.0.2.1' },
    { via: '1.1 proxy' },
    { 'x-real-ip': '192.0.2.1' },
  ]
  for (const headers of forwarded)
    expect(await secretsIn(gateway, { host: 'localhost', ...headers }), JSON.stringify(headers)).toEqual([])
  expect(warnings()).toHaveLength(1)
  // What one was shown, another is not.
  expect(await secretsIn(gateway, { host: 'localhost' })).toEqual(all)
})

test.each<Headers>([
  { PUBLIC_URL: 'https://tickets.example' },
  { HOST: '0.0.0.0' },
  { HOST: '192.168.1.4' },
  { TRUST_PROXY: '1' },
])('a service that is there for others shows nobody secret keys: %j', async (settings) => {
  const gateway = await open(settings)
  expect(await secretsIn(gateway, { host: 'localhost:4000' })).toEqual([])
})

test('an address of this machine as PUBLIC_URL is no other', async () => {
  const gateway = await open({ PUBLIC_URL: 'http://127.0.0.1:4000', HOST: '::1' })
  expect(await secretsIn(gateway, { host: 'localhost:4000' })).toEqual(all)
})
