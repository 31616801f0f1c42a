import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { anEntry, type Checkout } from '../../support/checkouts.ts'
import { money, toItems } from '../../support/contract-input.ts'
import { readDeliveries } from '../../support/deliveries.ts'
import { aRateOf } from '../../support/factories.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { publishableHeaders, shopOrigin } from '../../support/modes.ts'
import { openPageBuyer } from '../../support/payment-page-buyer.ts'
import { openSale, restProblems, sharedSale } from '../../support/sale.ts'

type Headers = Record<string, string>

let page: Headers
let tested: Headers
const sale = sharedSale({
  rates: [aRateOf(1000)],
  settings: { RATE_LIMIT: '100', PUBLISHABLE_RATE_LIMIT: '1000', CORS_ORIGINS: 'https://office.example' },
})
beforeAll(async () => {
  page = await publishableHeaders(sale)
  tested = await publishableHeaders(sale, { mode: 'test', origins: ['https://test.example'] })
})

const body = (more = {}) => ({ ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')], ...more })
const checkOut = (headers: Headers, more = {}) =>
  sale.rest('POST', '/tickets/checkout', { headers, body: body(more) })
const list = (headers: Headers) => sale.rest('GET', '/events', { headers })

test('a publishable key lists, quotes and checks out, and reads its payment by the address of its page', async () => {
  expect((await list(page)).json().data).toHaveLength(1)
  type Shown = { id?: string; amounts?: { total: object } }
  const { data, errors } = await sale.graphql<Record<string, Shown>>(
    `{ event(by: { id: "evt_1" }) { id ticketRates { id } organization { name } } ticketRate(id: "rate_1") { id }
      events { nodes { id } }
      quoteCheckout(input: { items: [{ ticketRateId: "rate_1", tickets: [{ priceId: "price_1" }] }] }) {
        ... on CheckoutQuote { amounts { total { amount currency } } } } }`,
    {},
    page,
  )
  expect([errors, data?.event?.id, data?.ticketRate?.id, data?.quoteCheckout?.amounts?.total]).toEqual([
    undefined,
    'evt_1',
    'rate_1',
    money(22),
  ])
  const { data: checkout } = (await checkOut(page)).json<{ data: Checkout }>()
  const query =
    'query ($url: String!) { paymentByUrl(url: $url) { id status tickets { id } refunds { id } } }'
  const read = async (url: string, headers = page) => (await sale.graphql(query, { url }, headers)).data
  const found = { id: checkout.payment_id, status: 'PENDING', tickets: null, refunds: null }
  expect(await read(checkout.payment_url)).toEqual({ paymentByUrl: found })
  await openPageBuyer(sale).pay(checkout)
  for (const end of ['?paid', '/', '/?paid#top'])
    expect(await read(`${checkout.payment_url}${end}`)).toEqual({
      paymentByUrl: { ...found, status: 'PAID' },
    })
  const absent = { paymentByUrl: null }
  expect(
    await read(checkout.payment_url.slice(0, -1) + (checkout.payment_url.endsWith('a') ? 'b' : 'a')),
  ).toEqual(absent)
  expect(await read(checkout.payment_id)).toEqual(absent)
  expect(await read(checkout.payment_url, tested)).toEqual(absent)
})

test('a publishable key is told what is left, and on no surface what was sold', async () => {
  const places = 'availability { sold available unlimited }'
  const shown = `id ${places} prices { ${places} } currentPrice { ${places} }`
  const query = `{ ticketRate(id: "rate_1") { ${shown} } event(by: { id: "evt_1" }) { ticketRates { ${shown} } }
    node(id: "rate_1") { ... on TicketRate { ${shown} } } events { nodes { ticketRates { ${shown} } } } }`
  const input = {
    items: toItems('rate_1', [{ priceId: 'price_1', fullName: 'Ana', email: 'ana@example.com' }]),
  }
  const mutation = `mutation ($input: CheckoutInput!) { checkout(input: $input) {
    ... on CheckoutPayload { ticketRates { ${shown} } } } }`
  const rest = async (headers: Headers) =>
    (await sale.rest('GET', '/events?populate=*,capacity', { headers })).json().data[0].ticket_rates
  const told = async (headers: Headers) => {
    const answers = [
      await sale.graphql(query, {}, headers),
      await sale.graphql(mutation, { input: { ...input, idempotencyKey: crypto.randomUUID() } }, headers),
    ]
    for (const { errors } of answers) expect(errors).toBeUndefined()
    return JSON.stringify([answers.map(({ data }) => data), await rest(headers)])
  }
  // By turns, because answers are shared for a moment between callers who see the same.
  for (const [headers, sold] of [
    [sale.channel, /"sold":\d/],
    [page, /"sold":null/],
    [sale.channel, /"sold":\d/],
    [page, /"sold":null/],
  ] as const) {
    const text = await told(headers)
    expect(text).toMatch(sold)
    expect(text).toMatch(/"available":\d/)
    expect(text.match(/"sold":(null|\d)/g)?.every((one) => sold.test(one))).toBe(true)
    expect(text).toContain('"unlimited":false')
    expect(text.includes('"capacity":')).toBe(headers === sale.channel)
  }
})

test('a publishable key without a page says that it is for pages', async () => {
  const { origin: _, ...program } = page
  const answer = await list(program)
  expect(restProblems(answer)).toEqual(['ORIGIN_NOT_ALLOWED origin'])
  expect(answer.json().message).toMatch(/sends the header Origin.*server of its own/)
  expect((await list({ ...program, origin: 'https://evil.example' })).json().message).toMatch(
    /pages of other origins/,
  )
})

test('no answer to a publishable key has a person, a code or a document', async () => {
  const secret = { full_name: 'Zenobia Hidden', email: 'zenobia.hidden@example.com', phone: '+34600111222' }
  const key = { 'idempotency-key': 'hidden' }
  const answers: string[] = []
  for (const headers of [page, tested])
    for (let count = 0; count < 2; count++)
      answers.push((await checkOut({ ...headers, ...key }, { tickets: [anEntry('price_1', secret)] })).body)
  expect(answers.map((answer) => JSON.parse(answer).data.tickets)).toEqual([[], [], [], []])
  const own = (await checkOut(sale.channel, { tickets: [anEntry('price_1', secret)] })).json<{
    data: Checkout
  }>().data
  const id = own.tickets[0]?._id ?? ''
  const mutation = `mutation ($input: CheckoutInput!) { checkout(input: $input) { ... on CheckoutPayload {
    tickets { id qrCode attendee { email } } payment { id pageUrl tickets { id } } } } }`
  const input = {
    items: toItems('rate_1', [
      { priceId: 'price_1', fullName: secret.full_name, email: secret.email, phone: secret.phone },
    ]),
    idempotencyKey: 'shown',
  }
  const bought = await sale.graphql(mutation, { input }, page)
  expect(bought.errors).toBeUndefined()
  const read = await sale.graphql(
    `{ ticket(id: "${id}") { attendee { email } } payment(id: "${own.payment_id}") { id } a: node(id: "${id}") { id }
      b: node(id: "${own.payment_id}") { id } }`,
    {},
    page,
  )
  expect(read.data).toEqual({ ticket: null, payment: null, a: null, b: null })
  const all = [...answers, JSON.stringify([bought, read])].join()
  expect(all).not.toMatch(/hidden@|Zenobia|34600111222/i)
  expect(all).not.toContain(own.tickets[0]?.qr_code)
})

test.each([
  '{ changes(from: { at: OLDEST }) { nodes { id } } }',
  '{ webhooks { id } }',
  '{ discounts { nodes { id } } }',
  '{ tickets { nodes { id } } }',
  '{ payments { nodes { id } } }',
  'mutation { registerWebhook(input: { url: "https://hooks.example/", idempotencyKey: "once" }) { __typename } }',
  'mutation { cancelPayment(input: { paymentId: "x" }) { __typename } }',
  'mutation { cancelTickets(input: { of: { ticketId: "x" } }) { __typename } }',
  'mutation { returnTicket(input: { ticketId: "x" }) { __typename } }',
  'mutation { refundTickets(input: { of: { ticketId: "x" }, idempotencyKey: "x" }) { __typename } }',
  'mutation { checkInTicket(input: { ticket: { ticketId: "x" }, eventId: "evt_1", idempotencyKey: "x" }) { __typename } }',
  'mutation { checkInTickets(input: { scans: [{ ticket: { ticketId: "x" }, eventId: "evt_1", idempotencyKey: "x" }] }) { __typename } }',
  'mutation { resendTickets(input: { of: { ticketId: "x" } }) { __typename } }',
])('%s is forbidden for a publishable key', async (query) => {
  const { errors } = await sale.graphql(query, {}, page)
  expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['FORBIDDEN'])
})

test('a lookup is forbidden for a publishable key', async () => {
  const answer = await sale.rest('GET', '/integrations/tickets/tkt_1', { headers: page })
  expect(restProblems(answer)).toEqual(['FORBIDDEN'])
})

test('a publishable key chooses no code, and leads the buyer to its own origins only', async () => {
  const problems = async (more: object) => restProblems(await checkOut(page, more))
  expect(await problems({ tickets: [anEntry('price_1', { qr_code: 'GUESS' })] })).toEqual([
    'INVALID tickets.0.qr_code',
  ])
  expect(
    await problems({ redirect_url: 'https://evil.example/', error_url: `${shopOrigin}.evil.example/` }),
  ).toEqual(['INVALID redirect_url', 'INVALID error_url'])
  expect((await checkOut(page, { redirect_url: `${shopOrigin}/thanks` })).statusCode).toBe(200)
})

test('idempotency keys of browsers are apart from those of the channel', async () => {
  const key = { 'idempotency-key': 'shared' }
  const idOf = async (headers: Headers) =>
    (await checkOut({ ...headers, ...key })).json<{ data: Checkout }>().data.payment_id
  const [one, other] = [await idOf(page), await idOf(sale.channel)]
  expect(one).not.toBe(other)
  expect([await idOf(page), await idOf(sale.channel)]).toEqual([one, other])
})

test('a test checkout of a browser mails nothing', async () => {
  const entry = anEntry('price_1', { email: 'stranger@example.com' })
  const { data } = (await checkOut(tested, { tickets: [entry], send_resourcers: true })).json<{
    data: Checkout
  }>()
  await openPageBuyer(sale).pay(data)
  expect(Object.keys(await readDeliveries(sale))).not.toContain('stranger@example.com')
})

test.each([
  ['without an origin', undefined],
  ['from another origin', 'https://evil.example'],
  ['from a subdomain', 'https://sub.shop.example'],
  ['over http', 'http://shop.example'],
  ['from null', 'null'],
  ['from the origin of another key', 'https://test.example'],
])('a publishable key %s is refused, even if its answer is cached', async (_what, origin) => {
  expect((await list(page)).statusCode).toBe(200)
  const { 'x-api-key': key = '' } = page
  const headers: Headers = { 'x-api-key': key, ...(origin && { origin }) }
  const answer = await list(headers)
  expect([answer.statusCode, restProblems(answer)]).toEqual([403, ['ORIGIN_NOT_ALLOWED origin']])
  const { errors } = await sale.graphql('{ events { nodes { id } } }', {}, headers)
  expect(errors?.[0]?.extensions?.code).toBe('ORIGIN_NOT_ALLOWED')
  expect(answer.headers['access-control-allow-origin']).not.toBe(shopOrigin)
})

const preflight = (origin: string, method = 'POST') =>
  sale.app.inject({
    method: 'OPTIONS',
    url: '/graphql',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'x-api-key',
    },
  })

test('a preflight is answered for the origins of publishable keys, exactly and without credentials', async () => {
  const answer = await preflight(shopOrigin)
  expect(answer.statusCode).toBe(204)
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': shopOrigin,
    'access-control-max-age': '600',
    vary: expect.stringContaining('Origin'),
  })
  const allowed = String(answer.headers['access-control-allow-headers']).split(', ')
  expect(allowed).toEqual(
    expect.arrayContaining([
      ...['x-api-key', 'traceparent', 'tracestate', 'baggage', 'sentry-trace', 'apollo-require-preflight'],
      ...['apollographql-client-name', 'apollographql-client-version', 'x-apollo-operation-name'],
      ...[
        'x-datadog-trace-id',
        'x-datadog-parent-id',
        'x-datadog-origin',
        'x-datadog-sampling-priority',
        'b3',
      ],
    ]),
  )
  const told = (await sale.rest('GET', '/events', { headers: page })).headers
  const exposed = String(told['access-control-expose-headers']).split(', ')
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id']) {
    expect(told[name]).toBeDefined()
    expect(exposed).toContain(name)
  }
  expect(exposed).toContain('retry-after')
  expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
  const other = await preflight('https://evil.example')
  expect(other.headers['access-control-allow-origin']).toBeUndefined()
  expect((await preflight('https://office.example')).headers['access-control-allow-origin']).toBe(
    'https://office.example',
  )
})

test('a page reads answers to its publishable key, and to no other credentials', async () => {
  const answer = await list(page)
  expect(answer.headers['access-control-allow-origin']).toBe(shopOrigin)
  expect(answer.headers.vary).toContain('Origin')
  const refused = await sale.rest('GET', '/events?limit=x', { headers: page })
  expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([400, shopOrigin])
  const withChannel = await list({ ...sale.channel, origin: shopOrigin })
  expect([withChannel.statusCode, withChannel.headers['access-control-allow-origin']]).toEqual([
    200,
    undefined,
  ])
  const fromOffice = await list({ ...sale.channel, origin: 'https://office.example' })
  expect(fromOffice.headers['access-control-allow-origin']).toBe('https://office.example')
})

test('an origin is forgotten within a second of its key', async () => {
  const clock = mockClock()
  const gone = await publishableHeaders(sale, { origins: ['https://gone.example'] })
  clock.advance(1_001)
  const allowed = async () => (await preflight('https://gone.example')).headers['access-control-allow-origin']
  expect(await allowed()).toBe('https://gone.example')
  await revokeKey(sale.db, gone['x-api-key'] ?? '')
  expect((await list(gone)).statusCode).toBe(401)
  clock.advance(1_001)
  expect(await allowed()).toBeUndefined()
  clock.restore()
})

test('a publishable key that states another mode or kind is unknown', async () => {
  const { 'x-api-key': key = '' } = page
  for (const other of [key.replace('box_pub_', 'box_'), key.replace('_live_', '_test_')])
    expect((await list({ ...page, 'x-api-key': other })).statusCode).toBe(401)
})

test('a publishable key has a limit per address', async () => {
  const limited = await openSale({ settings: { PUBLISHABLE_RATE_LIMIT: '3', TRUST_PROXY: '1' } })
  const headers = await publishableHeaders(limited)
  const ask = async (address: string) =>
    (await limited.rest('GET', '/events', { headers: { ...headers, 'x-forwarded-for': address } })).statusCode
  const statuses: number[] = []
  for (let count = 0; count < 5; count++) statuses.push(await ask('192.0.2.1'))
  expect([...new Set(statuses)].sort()).toEqual([200, 429])
  expect(await ask('192.0.2.2')).toBe(200)
  const { channel } = limited
  expect(
    (await limited.rest('GET', '/events', { headers: { ...channel, 'x-forwarded-for': '192.0.2.1' } }))
      .statusCode,
  ).toBe(200)
  await limited.close()
})

test('a key for loopback is good at any port of this machine, and nowhere else', async () => {
  const clock = mockClock()
  onTestFinished(clock.restore)
  const key = await publishableHeaders(sale, { origins: ['http://localhost:*', 'http://[::1]:*'] })
  // Origins that an earlier preflight listed are kept for a second, counted from a clock that was ahead.
  clock.advance(5_000)
  const statusFrom = async (origin: string) => (await list({ ...key, origin })).statusCode
  const allowed = ['http://localhost', 'http://localhost:3000', 'http://localhost:5173', 'http://[::1]:8080']
  for (const origin of allowed) {
    expect([origin, await statusFrom(origin)]).toEqual([origin, 200])
    const preflight = { origin, 'access-control-request-method': 'POST' }
    const { headers } = await sale.app.inject({ method: 'OPTIONS', url: '/graphql', headers: preflight })
    expect(headers['access-control-allow-origin']).toBe(origin)
    const redirected = await checkOut({ ...key, origin }, { redirect_url: `${origin}/done` })
    expect(redirected.statusCode).toBe(200)
  }
  const refused = [
    ...['https://localhost:3000', 'http://127.0.0.1:3000', 'http://localhost.evil.example', 'null'],
    ...['http://evil.example:3000', 'http://localhost:3000.evil.example', 'http://a.localhost:3000'],
  ]
  for (const origin of refused) expect([origin, await statusFrom(origin)]).toEqual([origin, 403])
})
