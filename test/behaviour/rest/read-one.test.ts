import { readFile } from 'node:fs/promises'
import { buildSchema } from 'graphql'
import { beforeAll, expect, test } from 'vitest'
import { anEntry, type Checkout, mustCheckOut } from '../../support/checkouts.ts'
import { anEvent, anOrganization, aRateNamed } from '../../support/factories.ts'
import { openPageBuyer, redirectUrls } from '../../support/payment-page-buyer.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

// One event and one payment over REST (DECISIONS 119).

const rate = aRateNamed('1')

let checkout: Checkout
const organizations = [anOrganization(), anOrganization({ _id: 'org_2' })]
const events = [
  anEvent({ _id: 'evt_1', ticket_rates: [rate] }),
  anEvent({ _id: 'evt_2', organization_id: 'org_2', location_id: undefined }),
]
const sale = sharedSale({ organizations, events })
beforeAll(async () => {
  const order = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')], ...redirectUrls }
  checkout = await mustCheckOut(sale, order)
})

const read = (path: string, headers: Record<string, string> = sale.channel) =>
  sale.rest('GET', path, { headers })

test('GET /events/{eventId} answers the event as the list does, to a channel and to an integration', async () => {
  const listedWith = async (populate: string) => {
    const { data } = (await read(`/events?populate=${populate}`)).json()
    return data.find(({ _id }: { _id: string }) => _id === 'evt_1')
  }
  const withCapacity = await listedWith('*,capacity')
  expect(JSON.stringify(withCapacity)).toContain('"capacity":')
  expect((await read('/events/evt_1?populate=*,capacity')).json().data).toEqual(withCapacity)
  const listed = await listedWith('*')
  for (const headers of [sale.channel, sale.integration.v1, sale.integration.v2]) {
    const answer = await read('/events/evt_1?populate=*', headers)
    expect([answer.statusCode, answer.json()]).toEqual([200, { success: true, data: listed }])
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    const again = await read('/events/evt_1?populate=*', {
      ...headers,
      'if-none-match': String(answer.headers.etag),
    })
    expect(again.statusCode).toBe(304)
  }
  expect((await read('/events/evt_1')).json().data).not.toHaveProperty('ticket_rates')
})

test("GET /events/{eventId} of another organization's, or of none, is 404", async () => {
  expect((await read('/events/evt_2')).statusCode).toBe(200)
  for (const [id, headers] of [
    ['evt_2', sale.integration.v2],
    ['evt_none', sale.channel],
    ['%00', sale.channel],
    ['x'.repeat(100), sale.channel],
  ] as const) {
    const answer = await read(`/events/${id}`, headers)
    expect([answer.statusCode, restProblems(answer)]).toEqual([404, ['NOT_FOUND event_id']])
  }
  expect(restProblems(await read('/events/evt_1?limit=1'))).toEqual(['UNKNOWN_FIELD limit'])
})

test('GET /payments/{paymentId} answers the payment that the redirect names', async () => {
  const { payment_id } = checkout
  const pending = await read(`/payments/${payment_id}`)
  expect(pending.headers['cache-control']).toBe('private, no-store')
  expect(pending.json()).toMatchObject({ success: true, data: { status: 'pending', paid_at: null } })
  const { location } = (await openPageBuyer(sale).pay(checkout)).headers
  const named = new URL(String(location)).searchParams.get('payment_id')
  const expected = {
    _id: payment_id,
    ticket_rate_id: 'rate_1',
    status: 'paid',
    expires_at: expect.stringMatching(/Z$/),
    paid_at: expect.stringMatching(/Z$/),
    total_amount: 22,
    refunded: 0,
    currency: 'EUR',
    invoice_reference: expect.stringMatching(/^F\d{4}-000001$/),
    created_at: expect.stringMatching(/Z$/),
  }
  for (const headers of [sale.channel, sale.integration.v1, sale.integration.v2]) {
    const answer = await read(`/payments/${named}`, headers)
    expect([answer.statusCode, answer.json()]).toEqual([200, { success: true, data: expected }])
  }
  const none = await read('/payments/pay_none')
  expect([none.statusCode, restProblems(none)]).toEqual([404, ['NOT_FOUND payment_id']])
})

test('the description of the document names an operation of GraphQL for each other need', async () => {
  const { info } = (await sale.rest('GET', '/openapi.json')).json()
  const text = await readFile(new URL('../../../schema.graphql', import.meta.url), 'utf8')
  const schema = buildSchema(text)
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const known = new Set(roots.flatMap((root) => Object.keys(root?.getFields() ?? {})))
  const rows: string[] = info.description.split('\n').filter((line: string) => /^\|.*`/.test(line))
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  for (const need of ['quoteCheckout', 'refundTickets', 'checkInTicket', 'registerWebhook'])
    expect(named).toContain(need)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})
