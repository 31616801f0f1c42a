import { beforeEach, expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { issueChannelKey } from '../../../src/domain/caller/issue-key.ts'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { invalidateShared } from '../../../src/engine/database/shared-invalidation.ts'
import { anEntry, checkOut, mustCheckOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  channelHeaders,
} from '../../support/factories.ts'
import { scopedHeaders } from '../../support/modes.ts'
import { openPageBuyer } from '../../support/payment-page-buyer.ts'
import { sharedSale } from '../../support/sale.ts'

// The bound is long, so that a change that shows was invalidated and did not just age out.

const rate = (id: string) =>
  aRate({
    _id: id,
    show_all_prices: false,
    availability: { sold: 0, available: 2 },
    prices: [aPrice({ _id: `${id}_early`, quantity: 1 }), aPrice({ _id: `${id}_late` })],
  })
const catalogue = (name = 'Noche') =>
  aCatalogue({
    organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
    events: [
      anEvent({ _id: 'evt_1', name, ticket_rates: ['rate_1', 'rate_2', 'rate_3'].map(rate) }),
      anEvent({
        _id: 'evt_2',
        organization_id: 'org_2',
        location_id: null,
        ticket_rates: [aRate({ _id: 'evt_2_rate', prices: [aPrice({ _id: 'evt_2_price' })] })],
      }),
    ],
  })

const sale = sharedSale(catalogue(), { settings: { SHARED_READS_MS: '60000' } })
beforeEach(() => invalidateShared(sale.db))

type Headers = Record<string, string>

const page = `{ events { nodes { id name ticketRates { id available prices { id } } } } }`
const ask = (query: string, headers: Headers = sale.channel, variables = {}) =>
  sale.rest('POST', '/graphql', { headers, body: { query, variables } })
const list = (headers: Headers = sale.channel) => sale.rest('GET', '/events?populate=*', { headers })
const overGet = (headers: Headers = sale.channel) =>
  sale.rest('GET', `/graphql?query=${encodeURIComponent(page)}`, { headers })
const surfaces = {
  REST: list,
  GraphQL: (headers?: Headers) => ask(page, headers),
  'GraphQL by GET': overGet,
}

/** Counts the statements of a call, without those that only authenticate. */
async function costOf(call: () => Promise<unknown>): Promise<number> {
  sale.statements.reset()
  await call()
  return sale.statements.filter((text) => !text.includes('from "keys"') || text.includes('kind_1')).length
}

test.each(Object.entries(surfaces))(
  'response cache: concurrent reads over %s cost the statements of one',
  async (_surface, call) => {
    const together = async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => call()))
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
      expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(12)
    }
    // Until its rows are cached, a read costs more.
    await call()
    invalidateShared(sale.db)
    const cost = await costOf(together)
    expect(cost).toBeGreaterThan(0)
    expect(await costOf(together)).toBe(0)
    invalidateShared(sale.db)
    expect(await costOf(call)).toBe(cost)
    await importCatalogue(sale.db, catalogue())
    expect(await costOf(call)).toBeGreaterThan(0)
  },
)

test('response cache: another URL, document, variable or operation is another entry', async () => {
  const query =
    'query A($id: ID!) { event(by: { id: $id }) { id } } query B($id: ID!) { event(by: { id: $id }) { name } }'
  const ask = (operationName: string, id: string) =>
    sale.rest('POST', '/graphql', {
      headers: sale.channel,
      body: { query, operationName, variables: { id } },
    })
  const answers = [await ask('A', 'evt_1'), await ask('A', 'evt_2'), await ask('B', 'evt_1')]
  expect(answers.map((answer) => answer.json().data.event)).toEqual([
    { id: 'evt_1' },
    { id: 'evt_2' },
    { name: 'Noche' },
  ])
  const pages = [await list(), await sale.rest('GET', '/events?limit=1', { headers: sale.channel })]
  expect(pages.map((answer) => answer.json().data.length)).toEqual([2, 1])
  expect(pages.map(({ headers }) => Boolean(headers.link))).toEqual([false, true])
})

test('response cache is shared by callers with the same view only', async () => {
  const same = await channelHeaders(sale.db, 'org_2', 'org_1')
  const less = await channelHeaders(sale.db, 'org_1')
  for (const call of Object.values(surfaces)) {
    const whole = await call()
    expect(await costOf(() => call(same))).toBe(0)
    expect((await call(same)).body).toBe(whole.body)
    expect(await costOf(() => call(less))).toBeGreaterThan(0)
    expect(whole.body).toContain('evt_2')
    expect((await call(less)).body).not.toContain('evt_2')
  }
})

test('response cache is never shared by a channel and an integration', async () => {
  const channel = await channelHeaders(sale.db, 'org_1')
  const { v1, v2 } = sale.integration
  const slugs = '{ events { nodes { id slug } } }'
  expect((await ask(slugs, channel)).json().data.events.nodes).not.toEqual([])
  expect(await costOf(() => ask(slugs, v1))).toBeGreaterThan(0)
  await ask(page, v2)
  const event = '{ event(by: { id: "evt_1" }) { name } }'
  await ask(event, channel)
  expect(await costOf(() => ask(event, v2))).toBe(1)
  expect(await costOf(() => ask(event, v2))).toBe(0)
})

test('response cache is not shared with a key of other scopes', async () => {
  const [own, door] = [await scopedHeaders(sale, 'catalogue'), await scopedHeaders(sale, 'door')]
  for (const headers of [own, sale.integration.v2])
    expect((await ask(page, headers)).json().data.events.nodes).not.toEqual([])
  for (let time = 0; time < 2; time++)
    expect((await ask(page, door)).json().errors[0].extensions.code).toBe('FORBIDDEN')
})

test('response cache shows sums of sales to keys of their scope alone, whoever asks first', async () => {
  const sums = '{ event(by: { id: "evt_1" }) { id sales(groupBy: RATE) { nodes { ticketCount } } } }'
  const [both, own] = [
    await scopedHeaders(sale, 'catalogue', 'sales'),
    await scopedHeaders(sale, 'catalogue'),
  ]
  const salesFor = async (headers: Headers) => (await ask(sums, headers)).json().data.event.sales
  for (const callers of [
    [both, own, sale.channel],
    [own, sale.channel, both],
  ]) {
    invalidateShared(sale.db)
    for (const headers of callers)
      expect(await salesFor(headers)).toEqual(headers === both ? { nodes: [] } : null)
  }
})

test('response cache keeps no response with errors, and each names its own request', async () => {
  const query = '{ events { nodes { id } } wrong: events(first: 0) { nodes { id } } }'
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(query)))
  answers.push(await ask(query))
  for (const answer of answers) {
    const { data, errors } = answer.json()
    expect(data.events.nodes).toHaveLength(2)
    expect(errors[0].extensions.request_id).toBe(answer.headers['x-request-id'])
    expect(answer.headers).not.toHaveProperty('etag')
  }
  expect(await costOf(() => ask(query))).toBeGreaterThan(0)
})

test('response cache keeps no response beyond the catalogue', async () => {
  const { tickets, payment_id } = await mustCheckOut(sale, {
    ticket_rate_id: 'evt_2_rate',
    tickets: [anEntry('evt_2_price')],
  })
  const variables = { ticket: tickets[0]?._id, payment: payment_id, rate: 'evt_2_rate' }
  const itemsOf = (more = '') =>
    `items: [{ ticketRateId: "evt_2_rate", tickets: [{ priceId: "evt_2_price" ${more} }] }]`
  const named = itemsOf('attendee: { fullName: "Ana", email: "a@example.com" }')
  const operations = [
    'query ($ticket: ID!) { ticket(id: $ticket) { id } }',
    'query ($payment: ID!) { payment(id: $payment) { id } }',
    'query ($rate: ID!) { node(id: $rate) { id } }',
    `{ quoteCheckout(input: { ${itemsOf()} }) { __typename } }`,
    'query ($ticket: ID!) { events { nodes { id } } ticket(id: $ticket) { id } }',
    'query ($ticket: ID!) { events { nodes { id } } ... { ...T } } fragment T on Query { ticket(id: $ticket) { id } }',
    `mutation { checkout(input: { ${named}, idempotencyKey: "${crypto.randomUUID()}" }) { __typename } }`,
  ]
  for (const query of operations) {
    const run = () => ask(query, sale.channel, variables)
    const answer = await run()
    expect(answer.json().errors, query).toBeUndefined()
    expect(answer.headers['cache-control']).toBe('private, no-store')
    expect(await costOf(run), query).toBeGreaterThan(0)
  }
})

test('response cache keeps a catalogue query through fragments', async () => {
  const query =
    'query { __typename ...A ... { ticketRate(id: "rate_1") { id } } } fragment A on Query { ...B } fragment B on Query { event(by: { id: "evt_1" }) { id } }'
  expect((await ask(query)).json().errors).toBeUndefined()
  expect(await costOf(() => ask(query))).toBe(0)
})

type ShownRate = { id?: string; _id?: string; available: boolean; prices: { id?: string; _id?: string }[] }

/** Returns, for each surface, the current price of a rate and whether it is available. */
async function shownFor(id: string): Promise<string[]> {
  const find = (rates: ShownRate[]) => rates.find((rate) => (rate.id ?? rate._id) === id)
  const rest = find((await list()).json().data[0].ticket_rates)
  const graphql = [await ask(page), await overGet()].map((answer) =>
    find(answer.json().data.events.nodes[0].ticketRates),
  )
  return [rest, ...graphql].map((rate) => `${rate?.prices[0]?._id ?? rate?.prices[0]?.id} ${rate?.available}`)
}

const buy = (rate: string, ...prices: string[]) =>
  mustCheckOut(sale, { ticket_rate_id: rate, tickets: prices.map((price) => anEntry(`${rate}_${price}`)) })

test('a price and a rate sold out, and free again, show at once', async () => {
  const buyer = openPageBuyer(sale)
  const expectAll = async (expected: string) =>
    expect(await shownFor('rate_1')).toEqual(Array(3).fill(`rate_1_${expected}`))
  await expectAll('early true')
  const first = await buy('rate_1', 'early')
  await expectAll('late true')
  const second = await buy('rate_1', 'late')
  await expectAll('late false')
  await buyer.cancel(second)
  await expectAll('late true')
  const third = await buy('rate_1', 'late')
  await expectAll('late false')
  await buyer.expire(first)
  await expireHolds(sale.db, 10)
  await expectAll('early true')
  await buyer.expire(third)
  const both = await buy('rate_1', 'early', 'late')
  await expectAll('late false')
  // A checkout that finds the rate full expires overdue holds and takes some of their places.
  await buyer.expire(both)
  await buy('rate_1', 'late')
  await expectAll('early true')
})

test('a rate that concurrent buyers sell out shows at once', async () => {
  await shownFor('rate_2')
  const body = { ticket_rate_id: 'rate_2', tickets: [anEntry('rate_2_late')] }
  const answers = await Promise.all(Array.from({ length: 6 }, () => checkOut(sale, body)))
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 409, 409, 409, 409])
  expect(await shownFor('rate_2')).toEqual(Array(3).fill('rate_2_early false'))
})

test('a sale that leaves places does not invalidate', async () => {
  await shownFor('rate_3')
  await buy('rate_3', 'late')
  expect(await costOf(() => shownFor('rate_3'))).toBe(0)
})

test('an import invalidates at once', async () => {
  for (const call of Object.values(surfaces)) expect((await call()).body).toContain('Noche')
  await importCatalogue(sale.db, catalogue('Mañana'))
  for (const call of Object.values(surfaces)) expect((await call()).body).toContain('Mañana')
})

test('a revoked grant or key invalidates at once', async () => {
  const issued = await issueChannelKey(sale.db, {
    name: 'Shop',
    organizationIds: ['org_1', 'org_2'],
    mode: 'live',
  })
  const headers = { 'x-api-key': issued.key }
  const grant = { channelId: issued.channelId, organizationId: 'org_2' }
  for (const call of Object.values(surfaces)) expect((await call(headers)).body).toContain('evt_2')
  await changeGrant(sale.db, { ...grant, granted: false })
  for (const call of Object.values(surfaces)) expect((await call(headers)).body).not.toContain('evt_2')
  await changeGrant(sale.db, { ...grant, granted: true })
  for (const call of Object.values(surfaces)) expect((await call(headers)).body).toContain('evt_2')
  await revokeKey(sale.db, grant.channelId)
  for (const call of Object.values(surfaces)) expect((await call(headers)).statusCode).toBe(401)
})
