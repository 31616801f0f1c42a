import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { graphiqlTabs } from '../../../src/app/graphiql-tabs.ts'
import { webhooks } from '../../../src/domain/change/table.ts'
import { checkIns } from '../../../src/domain/check-in/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { refunds } from '../../../src/domain/refund/table.ts'
import { aBuyer, sellAtBoxOffice } from '../../support/box-office.ts'
import { withNumbers } from '../../support/contract-input.ts'
import { anEvent, aPrice, aRate } from '../../support/factories.ts'
import { subscribe } from '../../support/live.ts'
import { publishableHeaders } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'

const rate = aRate({ prices: [aPrice()] })
const [price] = rate.prices ?? []

const sale = sharedSale({ events: [anEvent({ _id: 'evt_1', ticket_rates: [rate] })], listen: true })

const getPage = (headers: Record<string, string> = {}) =>
  sale.rest('GET', '/graphql', {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers },
  })

test('GraphiQL: every tab runs as it is', async () => {
  const priceId = price?._id ?? ''
  const sold = await sellAtBoxOffice(sale, {
    ticketRateId: rate._id,
    tickets: [aBuyer(priceId)],
    method: 'CASH',
  })
  const page = await publishableHeaders(sale)
  const tabs = graphiqlTabs({
    publishableKey: page['x-api-key'] ?? '',
    key: sale.channel['x-api-key'] ?? '',
    integrationKey: sale.integration.v2['x-api-key'] ?? '',
    doorEventId: 'evt_1',
    doorTicketId: sold.tickets[0]?.id ?? '',
    ticketRateId: rate._id,
    priceId,
    ticketId: sold.tickets[0]?.id ?? '',
  })
  const answers = []
  const streamed = tabs.filter(({ query }) => query.includes('subscription'))
  expect(streamed).toHaveLength(1)
  for (const { query, variables, headers } of tabs.filter((tab) => !streamed.includes(tab))) {
    const { 'X-Api-Key': key } = JSON.parse(headers)
    answers.push(await sale.graphql(query, JSON.parse(variables), { ...page, 'x-api-key': key }))
  }
  for (const { status, errors } of answers) expect([status, errors]).toEqual([200, undefined])
  const activated = expect.objectContaining({
    type: 'TICKET_ACTIVATED',
    subject: { __typename: 'Ticket', id: sold.tickets[0]?.id, ticketStatus: 'ACTIVATED' },
  })
  expect(answers.map(({ data }) => withNumbers(data))).toMatchObject([
    {
      events: {
        totalCount: 1,
        nodes: [{ ticketRates: [{ id: rate._id, currentPrice: { price: 20, total: { amount: '22.00' } } }] }],
      },
    },
    { quoteCheckout: { amounts: { total: 22 } } },
    { checkout: { payment: { status: 'PENDING', totalAmount: 22 } } },
    { ticket: { id: sold.tickets[0]?.id, status: 'ACTIVATED', saleType: 'BOX_OFFICE' } },
    { sellAtBoxOffice: { payment: { status: 'PAID', totalAmount: 22, boxOffice: { method: 'CASH' } } } },
    { checkInTicket: { checkIn: { outcome: 'TOO_EARLY', people: 1, inside: 0, admits: 1 } } },
    {
      refundTickets: {
        refunds: [
          { status: 'SUCCEEDED', amount: 1, ticket: { settlement: { refunded: { amount: '1.00' } } } },
        ],
      },
    },
    { changes: { nodes: expect.arrayContaining([activated]) } },
    { registerWebhook: { secret: expect.stringMatching(/^whsec_/), webhook: { types: ['TICKET_ENTERED'] } } },
  ])
  // Pressed again, a tab that writes makes nothing new: what it needs a key for, it has one for.
  const counts = () =>
    Promise.all([payments, refunds, checkIns, webhooks].map((table) => sale.db.$count(table)))
  const before = await counts()
  for (const { query, variables, headers } of tabs) {
    if (!query.includes('mutation')) continue
    const { 'X-Api-Key': key } = JSON.parse(headers)
    const { errors } = await sale.graphql(query, JSON.parse(variables), { ...page, 'x-api-key': key })
    expect(errors).toBeUndefined()
  }
  expect(await counts()).toEqual(before)
  expect(before).toEqual([3, 1, 1, 1])
  const [places] = streamed
  if (!places) throw new Error('a tab streams')
  const watched = subscribe<{ ticketRates: { id: string } }>(
    sale.url,
    { ...page, 'x-api-key': JSON.parse(places.headers)['X-Api-Key'] },
    { query: places.query, variables: JSON.parse(places.variables) },
  )
  await watched.until(({ ticketRates }) => ticketRates.id === rate._id)
  watched.close()
})

test('GraphiQL: a browser gets the page with its tabs, a client gets GraphQL', async () => {
  const page = await getPage()
  expect(page.statusCode).toBe(200)
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  for (const name of [
    'query Events',
    'query Quote',
    'mutation Checkout',
    'subscription Places',
    'query Ticket',
    'mutation BoxOffice',
    'mutation Door',
    'mutation Refund',
    'query Changes',
    'mutation Webhook',
  ])
    expect(page.body).toContain(name)
  const answer = await sale.rest('GET', '/graphql?query={__typename}', { headers: { accept: '*/*' } })
  expect(answer.json()).toEqual({ data: { __typename: 'Query' } })
})

test('GraphiQL loads nothing from other hosts and runs only its own scripts', async () => {
  const { headers, body } = await getPage()
  const scripts = [...body.matchAll(/<script[^>]*>(.*?)<\/script>/gs)]
  const hashes = scripts.map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  expect(scripts.map(([tag]) => tag.slice(0, 8))).toEqual(['<script>', '<script>'])
  const policy = String(headers['content-security-policy']).split('; ')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain(`script-src ${hashes.join(' ')}`)
  expect(policy).toContain("connect-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  const [head = ''] = body.split('<body')
  expect(head).not.toMatch(/<(link|script)[^>]*(href|src)="(?!data:)/)
})

test('GraphiQL is compressed as accepted, each encoding with its own ETag', async () => {
  const plain = await getPage({ 'accept-encoding': 'identity' })
  const brotli = await getPage({ 'accept-encoding': 'gzip, deflate, br, zstd' })
  const gzip = await getPage({ 'accept-encoding': 'gzip;q=1.0, br;q=0' })
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(brotli.headers['content-encoding']).toBe('br')
  expect(gzip.headers['content-encoding']).toBe('gzip')
  expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true)
  expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true)
  const answers = [plain, brotli, gzip]
  for (const { headers } of answers) expect(headers.vary).toBe('accept, accept-encoding')
  expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(3)
})

test('GraphiQL answers 304 to a browser that has it', async () => {
  const encoding = { 'accept-encoding': 'br' }
  const { etag } = (await getPage(encoding)).headers
  expect(etag).toMatch(/^"[\w-]+"$/)
  for (const tags of [String(etag), `W/${etag}`, `"other", ${etag}`]) {
    const again = await getPage({ ...encoding, 'if-none-match': tags })
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
    expect(again.headers['content-security-policy']).toContain('sha256-')
  }
  expect((await getPage({ ...encoding, 'if-none-match': '"other"' })).statusCode).toBe(200)
  expect((await getPage({ 'accept-encoding': 'gzip', 'if-none-match': String(etag) })).statusCode).toBe(200)
})
