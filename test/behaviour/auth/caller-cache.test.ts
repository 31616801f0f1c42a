import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { access } from '../../../src/domain/caller/access.ts'
import { authenticate } from '../../../src/domain/caller/authenticate.ts'
import { Credentials } from '../../../src/domain/caller/credentials.ts'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { grants, keys } from '../../../src/domain/caller/table.ts'
import type { Authenticated } from '../../../src/engine/base/caller.ts'
import { createCallerCache } from '../../../src/engine/cache/caller-cache.ts'
import { invalidateShared } from '../../../src/engine/database/shared-invalidation.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateNamed, channelHeaders } from '../../support/factories.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { publishableHeaders } from '../../support/modes.ts'
import { graphqlRefusal, refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

// The bound is long, so that a missing entry was invalidated and did not just age out.

const clock = mockClock()

/** Bought with the key of the test. */
let bought: { ticket: string; payment: string }
let headers: Headers
const rate = aRateNamed('1')
const catalogue = aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [rate] })] })
const sale = sharedSale(catalogue, { settings: { SHARED_READS_MS: '60000' } })
beforeEach(async () => {
  headers = await channelHeaders(sale.db, 'org_1')
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  const { tickets, payment_id } = await mustCheckOut({ ...sale, channel: headers }, body)
  bought = { ticket: tickets[0]?._id ?? '', payment: payment_id }
})
afterAll(() => clock.restore())

type Headers = Record<string, string>

const ask = (query: string) => sale.rest('POST', '/graphql', { headers, body: { query } })
const page = '{ events { nodes { id } } }'
const reads = {
  REST: () => sale.rest('GET', '/events', { headers }),
  GraphQL: () => ask(page),
  'GraphQL by GET': () => sale.rest('GET', `/graphql?query=${encodeURIComponent(page)}`, { headers }),
}
const inputOf = (ticket: string) => `{ items: [{ ticketRateId: "rate_1", tickets: [${ticket}] }] }`
const input = inputOf(
  '{ priceId: "price_1", attendee: { fullName: "Ana", email: "a@example.com" } }',
).replace('{ items', '{ idempotencyKey: "once", items')
const quoted = inputOf('{ priceId: "price_1" }')

const idOf = ({ 'x-api-key': key = '' }: Headers) => key.split('_')[2] ?? ''
const thisKey = () => eq(keys.id, idOf(headers))
/** Revokes as another process does: nothing here is invalidated. */
const revokeElsewhere = () => sale.db.update(keys).set({ revokedAt: sql`now()` }).where(thisKey())

test.each(Object.entries(reads))('caller cache: %s hit costs no SQL', async (_surface, read) => {
  const first = await read()
  sale.statements.reset()
  const second = await read()
  expect([second.statusCode, second.body]).toEqual([200, first.body])
  expect(sale.statements).toHaveLength(0)
})

test.each(Object.entries(reads))(
  'caller cache: %s miss of the response cache authenticates again',
  async (_surface, read) => {
    await read()
    invalidateShared(sale.db)
    sale.statements.reset()
    await read()
    expect(sale.statements.filter((text) => text.includes('from "keys"'))).toHaveLength(1)
  },
)

test('a key revoked in another process reads the cached catalogue and nothing else', async () => {
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
    `{ quoteCheckout(input: ${quoted}) { __typename } }`,
    `{ events { nodes { id } } ticket(id: "${bought.ticket}") { id } }`,
    `mutation { checkout(input: ${input}) { __typename } }`,
    '{ __schema { queryType { name } } }',
    // Catalogue data that is not cached.
    '{ events { nodes { name } } }',
  ])
    expect(graphqlRefusal(await ask(query)), query).toBe('401 UNAUTHENTICATED x-api-key')
  expect(refusal(await sale.rest('GET', '/events?limit=1', { headers }))).toBe(
    '401 UNAUTHENTICATED x-api-key',
  )
})

test('a key revoked in this process is invalidated at once', async () => {
  await reads.REST()
  await revokeKey(sale.db, idOf(headers))
  for (const read of Object.values(reads)) expect((await read()).statusCode).toBe(401)
})

test('a grant revoked in another process is gone with the next authentication', async () => {
  await reads.REST()
  await sale.db.delete(grants).where(
    and(
      eq(grants.organizationId, 'org_1'),
      sql`${grants.channelId} = (
    select ${keys.channelId} from ${keys} where ${thisKey()})`,
    ),
  )
  expect((await reads.REST()).json().data).toHaveLength(1)
  invalidateShared(sale.db)
  expect((await reads.REST()).json().data).toHaveLength(0)
})

test('a cached caller expires with its key', async () => {
  const expire = (seconds: number) =>
    sale.db
      .update(keys)
      .set({ expiresAt: sql`now() + ${seconds} * interval '1 s'` })
      .where(thisKey())
  await expire(30)
  await reads.REST()
  // Expiry is not read again for a cached caller.
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
])('a key with the expiry %s lasts by the clock of the database', async (expires, from, to) => {
  await sale.db
    .update(keys)
    .set({ expiresAt: sql.raw(expires) })
    .where(thisKey())
  const who = await authenticate(sale.db, new Credentials(headers))
  // Rounded to whole milliseconds: one is computed from the other.
  const lasts = Math.round((who?.until ?? 0) - (who?.since ?? 0))
  expect(lasts).toBeGreaterThanOrEqual(from)
  expect(lasts).toBeLessThanOrEqual(to)
})

test('caller cache: refusals are not kept, and other credentials with the same key are a miss', async () => {
  const integration = { ...headers, ...sale.integration.v1 }
  const withSecret = (secret: string) => sale.rest('GET', '/events', { headers: { ...integration, secret } })
  await reads.REST()
  expect((await withSecret('guessed')).statusCode).toBe(401)
  expect((await withSecret(integration.secret ?? '')).statusCode).toBe(200)
  expect((await withSecret('guessed')).statusCode).toBe(401)
})

// Cases that only a moved clock can tell apart.

const credentials = new Credentials({ 'x-api-key': 'one' })
const authenticated = (given: Partial<Authenticated> = {}): Authenticated => ({
  caller: { kind: 'channel', channelId: 'chn_1', organizationIds: ['org_1'], mode: 'live' },
  now: new Date(),
  since: performance.now(),
  until: Number.POSITIVE_INFINITY,
  ...given,
})

test.each<[what: string, ms: number, given: () => Partial<Authenticated>, found: string | null]>([
  ['just authenticated', 60_000, () => ({}), 'channel live org_1'],
  ['authenticated longer ago than the bound', 60_000, () => ({ since: performance.now() - 60_001 }), null],
  ['authenticated while caching is off', 0, () => ({}), null],
  ['authenticated with a key now expired', 60_000, () => ({ until: performance.now() - 1 }), null],
])('caller cache: lookup of a caller %s', (_what, ms, given, found) => {
  const callers = createCallerCache(sale.db, ms, access.viewOf)
  callers.remember(credentials, authenticated(given()))
  expect(callers.find(credentials)?.view ?? null).toBe(found)
})

test('caller cache: a lookup begun before an invalidation is not kept', () => {
  const callers = createCallerCache(sale.db, 60_000, access.viewOf)
  const before = authenticated()
  invalidateShared(sale.db)
  callers.remember(credentials, before)
  expect(callers.find(credentials)).toBeNull()
})

test('caller cache: holds 4 MB and evicts the oldest caller', () => {
  const callers = createCallerCache(sale.db, 60_000, access.viewOf)
  const organizationIds = Array.from({ length: 10_000 }, (_, index) => `org_${index}`)
  const caller = { kind: 'channel' as const, channelId: 'chn_1', organizationIds, mode: 'live' as const }
  const named = (index: number) => new Credentials({ 'x-api-key': `key ${index}` })
  for (let index = 0; index < 100; index++) callers.remember(named(index), authenticated({ caller }))
  expect(callers.find(named(99))).not.toBeNull()
  expect(callers.find(named(0))).toBeNull()
})

test('caller cache: a list that a page of one origin has just read is refused to a page of another one', async () => {
  const page = await publishableHeaders(sale)
  const list = (headers: Headers) => sale.rest('GET', '/events', { headers })
  const first = await list(page)
  sale.statements.reset()
  const second = await list(page)
  expect([second.statusCode, second.body]).toEqual([200, first.body])
  expect(sale.statements).toHaveLength(0)
  expect((await list({ ...page, origin: 'https://evil.example' })).statusCode).toBe(403)
})
