import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newApiKey } from '../../../src/domain/caller/api-key.ts'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { newId } from '../../../src/domain/contract/ids.ts'
import { newSecret } from '../../../src/engine/base/ids.ts'
import { aCatalogue, anEvent, aRateOf, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { pagePath } from '../../support/payment-page-buyer.ts'
import { graphqlRefusal, refusal } from '../../support/refusals.ts'
import { openSale, type Sale, sharedSale } from '../../support/sale.ts'
import { openStripeSale } from '../../support/stripe-sale.ts'
import { signEvent } from '../../support/stub-stripe.ts'
import { holdTickets } from '../../support/tickets.ts'

// Failures count against their address: guessed keys, guessed pages, wrong signatures. Valid credentials are
// exempt.

const limit = 20
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(1000)] })] })

const sale = sharedSale(catalogue, { settings: { RATE_LIMIT: String(limit), TRUST_PROXY: '1' } })
// Frozen time: a window lasts as long as its test, however slow this machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

type Headers = Record<string, string>
type Answer = Awaited<ReturnType<Sale['rest']>>

let addresses = 0
/** Returns an address not used before, as the proxy forwards it. */
const anAddress = (): Headers => ({ 'x-forwarded-for': `198.51.100.${++addresses}` })
const guessedKey = (): Headers => ({ 'x-api-key': newApiKey('live').key })
const guessedSecret = (): Headers => ({ integration_id: newId('int'), secret: newSecret() })

const list = (headers: Headers) => sale.rest('GET', '/events', { headers })
const ask = (headers: Headers) =>
  sale.rest('POST', '/graphql', { headers, body: { query: '{ events { nodes { id } } }' } })
const lookUp = (headers: Headers) => sale.rest('GET', '/integrations/tickets/tkt_1', { headers })
const checkOut = (headers: Headers) =>
  sale.rest('POST', '/tickets/checkout', { headers, body: { ticket_rate_id: 'rate_1', tickets: [] } })

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
const listsCredentials = (text: string) => text.includes('union all')
const countOf = (answers: Answer[], status: number) =>
  answers.filter(({ statusCode }) => statusCode === status).length

test.each([
  ['random keys', list, guessedKey, refusal],
  ['random keys over GraphQL', ask, guessedKey, graphqlRefusal],
  ['random keys that check out', checkOut, guessedKey, refusal],
  ['random secrets', lookUp, guessedSecret, refusal],
] as const)(
  'a thousand %s from one address cost SQL up to the limit only',
  async (_what, call, guess, said) => {
    const from = anAddress()
    sale.statements.reset()
    const began = performance.now()
    const answers = await Promise.all(many(1000, () => call({ ...from, ...guess() })))
    expect(countOf(answers, 401)).toBe(limit)
    expect(countOf(answers, 429)).toBe(1000 - limit)
    expect(sale.statements.filter((text) => !listsCredentials(text)).length).toBeLessThanOrEqual(limit)
    // Plus one statement per second that lists the valid credentials for all later requests.
    const maxLists = 1 + Math.ceil((performance.now() - began) / 1000)
    expect(sale.statements.filter(listsCredentials).length).toBeLessThanOrEqual(maxLists)
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    expect(new Set(refused.map(said))).toEqual(new Set(['429 RATE_LIMITED']))
    expect(refused[0]?.headers['retry-after']).toBe('1')
    sale.statements.reset()
    const later: Answer[] = []
    for (let count = 0; count < 50; count++) later.push(await call({ ...from, ...guess() }))
    expect(countOf(later, 429)).toBe(50)
    expect(sale.statements.filter((text) => !listsCredentials(text))).toHaveLength(0)
  },
)

test('sequential guesses from one address are limited too', async () => {
  const from = anAddress()
  const statuses: number[] = []
  for (let count = 0; count < limit + 5; count++)
    statuses.push((await list({ ...from, ...guessedKey() })).statusCode)
  expect(statuses).toEqual([...many(limit, () => 401), ...many(5, () => 429)])
})

test('control: without a limit every guess costs SQL', async () => {
  const open = await openSale(catalogue)
  const answers = await Promise.all(
    many(100, () => open.rest('GET', '/integrations/tickets/x', { headers: guessedSecret() })),
  )
  expect(countOf(answers, 401)).toBe(100)
  expect(open.statements.length).toBeGreaterThanOrEqual(100)
  await open.close()
})

test('valid credentials from a limited address are accepted, each with its own limit', async () => {
  const from = anAddress()
  const known = await channelHeaders(sale.db)
  expect((await list({ ...from, ...known })).statusCode).toBe(200)
  await Promise.all(many(200, () => list({ ...from, ...guessedKey() })))
  // Unknown to this process so far.
  const { v1, v2 } = await integrationHeaders(sale.db)
  for (const [call, headers, good] of [
    [list, known, 200],
    [list, await channelHeaders(sale.db), 200],
    [lookUp, v1, 404],
    [lookUp, v2, 404],
    [lookUp, { ...v1, ...v2 }, 404],
  ] as const) {
    const answers = await Promise.all(many(limit + 3, () => call({ ...from, ...headers })))
    expect(countOf(answers, 429)).toBe(headers === known ? 4 : 3)
    expect(countOf(answers, good)).toBe(headers === known ? limit - 1 : limit)
  }
  // The address stays limited.
  expect((await list({ ...from, ...guessedKey() })).statusCode).toBe(429)
})

test('a valid key with a guessed secret from a limited address is refused', async () => {
  const from = anAddress()
  const { v2 } = await integrationHeaders(sale.db)
  await Promise.all(many(limit, () => lookUp({ ...from, ...guessedSecret() })))
  expect((await lookUp({ ...from, ...v2, ...guessedSecret() })).statusCode).toBe(429)
  expect((await lookUp({ ...from, ...v2 })).statusCode).toBe(404)
})

test('a revoked key counts as a failure of its address', async () => {
  const from = anAddress()
  const { key } = await issueKey()
  expect((await list({ ...from, 'x-api-key': key })).statusCode).toBe(200)
  await revokeKey(sale.db, key.split('_')[2] ?? '')
  await Promise.all(many(limit + 1, () => list({ ...from, ...guessedKey() })))
  // The last lookup found it valid, so it is looked up once more.
  expect((await list({ ...from, 'x-api-key': key })).statusCode).toBe(401)
  expect((await list({ ...from, 'x-api-key': key })).statusCode).toBe(429)
})
const issueKey = async () => ({ key: (await channelHeaders(sale.db))['x-api-key'] })

test('new valid keys do not use up the failure limit of their address', async () => {
  const from = anAddress()
  for (const headers of await Promise.all(many(limit + 5, () => channelHeaders(sale.db))))
    expect((await list({ ...from, ...headers })).statusCode).toBe(200)
  sale.statements.reset()
  expect((await list({ ...from, ...guessedKey() })).statusCode).toBe(401)
  expect(sale.statements.some((text) => text.includes('union all'))).toBe(false)
})

test('a limited address does not affect other addresses or requests without credentials', async () => {
  const from = anAddress()
  await Promise.all(many(limit + 1, () => list({ ...from, ...guessedKey() })))
  expect((await list({ ...from, ...guessedKey() })).statusCode).toBe(429)
  expect((await list({ ...anAddress(), ...guessedKey() })).statusCode).toBe(401)
  expect((await sale.rest('GET', '/', { headers: from })).statusCode).toBe(200)
})

test('a limited address is free again in the next second', async () => {
  const from = anAddress()
  await Promise.all(many(limit + 1, () => list({ ...from, ...guessedKey() })))
  vi.setSystemTime(Date.now() + 1000)
  expect((await list({ ...from, ...guessedKey() })).statusCode).toBe(401)
})

test('payment pages of sixty buyers at one address each have their own limit', async () => {
  const from = anAddress()
  const checkouts = await Promise.all(
    many(60, async () => holdTickets(sale, { headers: await channelHeaders(sale.db) })),
  )
  const look = (path: string) => sale.rest('GET', path, { headers: from })
  const pages = await Promise.all(checkouts.map((checkout) => look(pagePath(checkout))))
  expect(countOf(pages, 200)).toBe(60)
  const [path = '', other = ''] = checkouts.map(pagePath)
  const again = await Promise.all(many(limit + 4, () => look(path)))
  expect(countOf(again, 200)).toBe(limit - 1)
  expect(countOf(again, 429)).toBe(5)
  expect(again.at(-1)?.headers['content-type']).toContain('text/html')
  // Known pages stay reachable, whatever anybody guesses from any address.
  await Promise.all(many(100, () => look(`/pay/${newSecret()}`)))
  expect((await look(other)).statusCode).toBe(200)
})

test.each([
  ['pages', () => `/pay/${newSecret()}`],
  ['tickets', () => `/tickets/${randomBytes(32).toString('hex')}.pdf`],
])('guessed %s from one address cost SQL little beyond the limit', async (_what, guess) => {
  const from = anAddress()
  sale.statements.reset()
  const answers = await Promise.all(many(300, () => sale.rest('GET', guess(), { headers: from })))
  expect(countOf(answers, 404) + countOf(answers, 429)).toBe(300)
  // Lookups that run concurrently may already be under way when the limit is reached.
  expect(countOf(answers, 404)).toBeGreaterThanOrEqual(limit)
  expect(sale.statements.length).toBeLessThanOrEqual(limit + 8)
})

test('malformed payment page tokens count as requests of their address and cost no SQL', async () => {
  const from = anAddress()
  sale.statements.reset()
  const answers = await Promise.all(many(limit + 5, () => sale.rest('GET', '/pay/short', { headers: from })))
  expect([countOf(answers, 404), countOf(answers, 429)]).toEqual([limit, 5])
  expect(sale.statements).toHaveLength(0)
})

test('provider events with a valid signature have no limit; forged ones count against their address only', async () => {
  const stripe = await openStripeSale(catalogue, { settings: { RATE_LIMIT: '2' } })
  const events = many(10, () => stripe.fake.emitEvent('customer.created', { id: 'cus_1' }))
  const send = async (secret?: string) =>
    Promise.all(events.map((event) => stripe.send(signEvent(event, secret))))
  expect(countOf(await send(), 200)).toBe(10)
  const wrong = await send('whsec_other')
  expect([countOf(wrong, 400), countOf(wrong, 429)]).toEqual([2, 8])
  expect(refusal(wrong[9] as Answer)).toBe('429 RATE_LIMITED')
  expect(countOf(await send(), 200)).toBe(10)
  expect((await stripe.rest('GET', '/events', { headers: guessedKey() })).statusCode).toBe(429)
  await stripe.close()
})
