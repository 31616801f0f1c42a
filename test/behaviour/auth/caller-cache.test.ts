import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Authenticated, authenticate } from '../../../src/auth/authenticate.ts'
import type { Credentials } from '../../../src/auth/known-credentials.ts'
import { revokeKey } from '../../../src/auth/revoke-key.ts'
import { grants, keys } from '../../../src/auth/table.ts'
import { rememberCallers } from '../../../src/cache/caller-cache.ts'
import { invalidateCatalogue } from '../../../src/database/catalogue-version.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aPrice, aRate, channelHeaders } from '../../support/factories.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { graphqlRefusal, refusal } from '../../support/refusals.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// The bound is long, so that what is not remembered any more was not forgotten because time went by.

const clock = mockClock()
let sale: Sale
/** What was bought with the key of the test. */
let bought: { ticket: string; payment: string }
let headers: Headers
beforeAll(async () => {
  const rate = aRate({ _id: 'rate_1', prices: [aPrice({ _id: 'price_1' })] })
  const catalogue = aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [rate] })] })
  sale = await openSale(catalogue, { settings: { SHARED_READS_MS: '60000' } })
})
beforeEach(async () => {
  headers = await channelHeaders(sale.db, 'org_1')
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  const { tickets, payment_id } = await mustCheckOut({ ...sale, channel: headers }, body)
  bought = { ticket: tickets[0]?._id ?? '', payment: payment_id }
})
afterAll(async () => {
  clock.restore()
  await sale.close()
})

type Headers = Record<string, string>

const asked = (query: string) => sale.rest('POST', '/graphql', { headers, body: { query } })
const page = '{ events { nodes { id } } }'
const reads = {
  REST: () => sale.rest('GET', '/events', { headers }),
  GraphQL: () => asked(page),
  'GraphQL by GET': () => sale.rest('GET', `/graphql?query=${encodeURIComponent(page)}`, { headers }),
}
const input = `{ ticketRateId: "rate_1", tickets: [{ priceId: "price_1", fullName: "Ana", email: "a@example.com" }] }`

const idOf = ({ 'x-api-key': key = '' }: Headers) => key.split('_')[2] ?? ''
const thisKey = () => eq(keys.id, idOf(headers))
/** As another process does: nobody here is told. */
const revokeElsewhere = () => sale.db.update(keys).set({ revokedAt: sql`now()` }).where(thisKey())

test.each(Object.entries(reads))('%s: a hit costs no SQL', async (_surface, read) => {
  const first = await read()
  sale.statements.reset()
  const second = await read()
  expect([second.statusCode, second.body]).toEqual([200, first.body])
  expect(sale.statements).toHaveLength(0)
})

test.each(Object.entries(reads))(
  '%s: what is asked for the first time lets in anew',
  async (_surface, read) => {
    await read()
    invalidateCatalogue(sale.db)
    sale.statements.reset()
    await read()
    expect(sale.statements.filter((text) => text.includes('from "keys"'))).toHaveLength(1)
  },
)

test('a key that was revoked elsewhere reads the catalogue from memory, and opens nothing else', async () => {
  for (const read of Object.values(reads)) await read()
  await revokeElsewhere()
  for (const read of Object.values(reads)) expect((await read()).statusCode).toBe(200)
  const refused = await sale.rest('POST', '/tickets/checkout', {
    headers,
    body: { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] },
  })
  expect(refusal(refused)).toBe('401 UNAUTHENTICATED x-api-key')
  expect(refusal(await sale.rest('GET', `/integrations/tickets/${bought.ticket}`, { headers }))).toBe(
    '401 UNAUTHENTICATED x-api-key',
  )
  for (const query of [
    `{ ticket(id: "${bought.ticket}") { id } }`,
    `{ payment(id: "${bought.payment}") { id } }`,
    '{ node(id: "evt_1") { id } }',
    `{ quoteCheckout(input: ${input}) { __typename } }`,
    `{ events { nodes { id } } ticket(id: "${bought.ticket}") { id } }`,
    `mutation { checkout(input: ${input}) { __typename } }`,
    '{ __schema { queryType { name } } }',
    // The catalogue, and not kept.
    '{ events { nodes { name } } }',
  ])
    expect(graphqlRefusal(await asked(query)), query).toBe('401 UNAUTHENTICATED x-api-key')
  expect(refusal(await sale.rest('GET', '/events?limit=1', { headers }))).toBe(
    '401 UNAUTHENTICATED x-api-key',
  )
})

test('who was found out is not remembered any more', async () => {
  await reads.REST()
  await revokeKey(sale.db, idOf(headers))
  for (const read of Object.values(reads)) expect((await read()).statusCode).toBe(401)
})

test('a grant that was taken back elsewhere is gone with the next key that is let in', async () => {
  await reads.REST()
  await sale.db.delete(grants).where(
    and(
      eq(grants.organizationId, 'org_1'),
      sql`${grants.channelId} = (
    select ${keys.channelId} from ${keys} where ${thisKey()})`,
    ),
  )
  expect((await reads.REST()).json().data).toHaveLength(1)
  invalidateCatalogue(sale.db)
  expect((await reads.REST()).json().data).toHaveLength(0)
})

test('nobody is remembered past the expiry of a key', async () => {
  const expire = (seconds: number) =>
    sale.db
      .update(keys)
      .set({ expiresAt: sql`now() + ${seconds} * interval '1 s'` })
      .where(thisKey())
  await expire(30)
  await reads.REST()
  // Who is remembered is not asked about.
  await expire(-1)
  sale.statements.reset()
  expect((await reads.REST()).statusCode).toBe(200)
  expect(sale.statements).toHaveLength(0)
  clock.advance(30_000)
  for (const read of Object.values(reads)) expect((await read()).statusCode).toBe(401)
})

test.each<[expires: string, from: number, to: number]>([
  ["now() + interval '60 s'", 50_000, 60_000],
  ['null', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
])('tells by the clock of the database when a key ends: %s', async (expires, from, to) => {
  await sale.db
    .update(keys)
    .set({ expiresAt: sql.raw(expires) })
    .where(thisKey())
  const who = await authenticate(sale.db, { apiKey: headers['x-api-key'] })
  // Whole milliseconds: one is a sum of the other.
  const lasts = Math.round((who?.until ?? 0) - (who?.since ?? 0))
  expect(lasts).toBeGreaterThanOrEqual(from)
  expect(lasts).toBeLessThanOrEqual(to)
})

test('a refusal is not remembered, nor is who sends the same key with something else', async () => {
  const integration = { ...headers, ...sale.integration.v1 }
  const withSecret = (secret: string) => sale.rest('GET', '/events', { headers: { ...integration, secret } })
  await reads.REST()
  expect((await withSecret('guessed')).statusCode).toBe(401)
  expect((await withSecret(integration.secret ?? '')).statusCode).toBe(200)
  expect((await withSecret('guessed')).statusCode).toBe(401)
})

// What only the clock and the memory tell apart.

const credentials: Credentials = { apiKey: 'one' }
const letIn = (given: Partial<Authenticated> = {}): Authenticated => ({
  caller: { kind: 'channel', channelId: 'chn_1', organizationIds: ['org_1'] },
  now: new Date(),
  since: performance.now(),
  until: Number.POSITIVE_INFINITY,
  ...given,
})

test.each<[what: string, ms: number, given: () => Partial<Authenticated>, found: string | null]>([
  ['just let in', 60_000, () => ({}), 'channel org_1'],
  ['let in longer ago than the bound', 60_000, () => ({ since: performance.now() - 60_001 }), null],
  ['just let in, where nothing is shared', 0, () => ({}), null],
  ['whose key has expired', 60_000, () => ({ until: performance.now() - 1 }), null],
])('finds who was %s only as it should be', (_what, ms, given, found) => {
  const callers = rememberCallers(sale.db, ms)
  callers.remember(credentials, letIn(given()))
  expect(callers.find(credentials)).toBe(found)
})

test('whose lookup began before a change is not remembered after it', () => {
  const callers = rememberCallers(sale.db, 60_000)
  const before = letIn()
  invalidateCatalogue(sale.db)
  callers.remember(credentials, before)
  expect(callers.find(credentials)).toBeNull()
})

test('holds 4 MB, and lets go of who called longest ago', () => {
  const callers = rememberCallers(sale.db, 60_000)
  const organizationIds = Array.from({ length: 10_000 }, (_, index) => `org_${index}`)
  const caller = { kind: 'channel' as const, channelId: 'chn_1', organizationIds }
  const named = (index: number) => ({ apiKey: `key ${index}` })
  for (let index = 0; index < 100; index++) callers.remember(named(index), letIn({ caller }))
  expect(callers.find(named(99))).not.toBeNull()
  expect(callers.find(named(0))).toBeNull()
})
