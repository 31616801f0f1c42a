import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { issueChannelKey } from '../../src/domain/caller/issue-key.ts'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { anEntry } from '../support/checkouts.ts'
import { type CrowdSocket, type Medians, mediansOf, openCrowd } from '../support/crowd.ts'
import { aCatalogueOfTwo, channelHeaders } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer } from '../support/processes.ts'
import { openSale, type Sale } from '../support/sale.ts'

// One tenant's requests beside a crowd of another's, or of strangers: each at most three times its quiet median
// (issue: nobody starves anybody). The crowd reads on a thread of this machine too, so times are compared with some
// to spare, and counts say the rest.

const changeCount = 3_000
const repeats = 15
const maxSlower = 3
// Chance of a machine that does other things. What starves anybody took seconds.
const noiseMs = 100

let database: TestDatabase
let sale: Sale
let tenant: Record<string, string>
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale(aCatalogueOfTwo(100_000), { database })
  tenant = await channelHeaders(sale.db, 'org_2')
  await sale.db.execute(sql`insert into changes (id, type, subject_id, sequence, organization_id, data)
    select 'chg_' || lpad(n::text, 20, '0'), 'ticket.updated', 'tkt_' || n, 1, 'org_1', '{"status": "active"}'
    from generate_series(1, ${changeCount}) as n`)
  await assignPositions(sale.db, ['org_1'])
})
afterAll(async () => {
  await sale.close()
  await database.drop()
})

async function start(settings: Record<string, string> = {}): Promise<string> {
  const service = await mustStartServer({ ...database.settings, RATE_LIMIT: 'off', ...settings })
  onTestFinished(async () => {
    await service.stop('SIGKILL')
  })
  return service.url
}

/** Medians of the tenant's requests. */
const tenantsMedians = (url: string): Promise<Medians> => {
  const send = async (path: string, body: unknown) => {
    const headers = { ...tenant, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.status).toBe(200)
    await answer.text()
  }
  return mediansOf(
    {
      viewer: () => send('/graphql', { query: '{ viewer { kind channel { id name } } }' }),
      checkout: () => send('/tickets/checkout', { ticket_rate_id: 'rate_2', tickets: [anEntry('price_2')] }),
    },
    repeats,
  )
}

async function quietMedians(url: string): Promise<Medians> {
  await tenantsMedians(url)
  return tenantsMedians(url)
}

function expectServed(beside: Medians, quiet: Medians, crowd: string): void {
  console.log(`beside ${crowd}: ${JSON.stringify({ quiet, beside })}`)
  for (const [name, median] of Object.entries(beside))
    expect(median, name).toBeLessThan(maxSlower * (quiet[name] ?? 0) + noiseMs)
}

const post = (headers: Record<string, string>, body: string) =>
  [
    'POST /graphql HTTP/1.1',
    'host: x',
    'content-type: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

test.each([
  ['one key', 1],
  ['twelve keys', 12],
])('a tenant is served beside 600 streams of a feed by %s', async (crowd, keyCount) => {
  const url = await start({ FEED_STREAMS_PER_KEY: String(600 / keyCount) })
  const quiet = await quietMedians(url)
  const keys = await Promise.all(
    Array.from({ length: keyCount }, () =>
      issueChannelKey(sale.db, { name: 'Shop', organizationIds: ['org_1'], mode: 'live' }),
    ),
  )
  const query = `subscription { changes(from: { at: OLDEST }) {
    cursor node { id type sequence subject { ... on Node { id } } } } }`
  const body = JSON.stringify({ query })
  const streams = Array.from({ length: 600 }, (_, index): CrowdSocket => {
    const headers = { accept: 'text/event-stream', 'x-api-key': keys[index % keyCount]?.key ?? '' }
    return { localAddress: `127.0.0.${2 + (index % 12)}`, send: post(headers, body) }
  })
  const readers = openCrowd(url, streams)
  await expect.poll(async () => (await readers.state()).bytes).toBeGreaterThan(600 * 1_000)
  expectServed(await tenantsMedians(url), quiet, `600 streams by ${crowd}`)
  // Sockets beyond what the kernel queues for the service ask again after seconds.
  await expect
    .poll(() => readers.state(), { timeout: 30_000 })
    .toMatchObject({ waiting: 0, open: 600, closed: 0 })
})

test.each([
  ['too many fields of one name', 400, 16],
  ['as many as are checked', 90, 60],
])('a tenant is served beside new documents of a stranger with %s', async (crowd, fields, perSecond) => {
  const url = await start({ RATE_LIMIT: '1000' })
  const quiet = await quietMedians(url)
  const statuses = new Map<number, number>()
  let sent = 0
  const send = async () => {
    const query = `query Q${sent++} { ${Array(fields).fill('viewer{kind}').join('')} }`
    const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' }
    const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
    await answer.text()
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  }
  const flood = setInterval(() => void send().catch(() => {}), 1_000 / perSecond)
  onTestFinished(() => clearInterval(flood))
  await expect.poll(() => sent).toBeGreaterThan(perSecond)
  expectServed(await tenantsMedians(url), quiet, `documents with ${crowd}`)
  // Some were checked, or refused for what they are; the others after the budget of their address.
  expect([...statuses.keys()].filter((status) => ![200, 400, 429].includes(status))).toEqual([])
})

test('a tenant is served beside 5,000 idle sockets of one address', async () => {
  const url = await start()
  const quiet = await quietMedians(url)
  const idle = openCrowd(
    url,
    Array.from({ length: 5_000 }, () => ({ localAddress: '127.0.0.2' })),
  )
  await expect.poll(async () => (await idle.state()).open, { timeout: 60_000 }).toBe(5_000)
  expectServed(await tenantsMedians(url), quiet, '5,000 idle sockets')
  // Some that the kernel took for open were never accepted.
  const { open, closed } = await idle.state()
  expect(open - closed).toBeLessThan(2_500)
})
