import { beforeAll, expect, test } from 'vitest'
import { type Checkout, checkOut, toCamelCase } from '../../support/checkouts.ts'
import { toTicket } from '../../support/contract-input.ts'
import { aQuestion, aRateNamed, aSupplement } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

const rate = aRateNamed('1', {
  supplements: [aSupplement({ _id: 'sup_1' })],
  questions: [aQuestion({ _id: 'que_1', type: 'text', items: [] })],
})

// Values are long enough that no id or time in the log contains one by chance.
const person = {
  full_name: 'Secretia Ñandú',
  email: 'secretia@example.com',
  phone: '+34600123123',
  gender: '1',
  birthday: '1990-12-13',
  address: 'Calle del Secreto, 1',
  postal_code: 'SECRET 28999',
  country_code: 'ES',
  personal_document_type: 'dni',
  personal_document_number: '12345678Z',
  qr_code: 'SECRETQR0001',
}
const entry = {
  price_id: 'price_1',
  ...person,
  answers: [{ question_id: 'que_1', answer: 'A secret answer' }],
}
const body = {
  ticket_rate_id: 'rate_1',
  tickets: [entry],
  redirect_url: 'https://shop.example/secret-thanks',
  error_url: 'https://shop.example/secret-sorry',
  metadata: { order: 'secret-order' },
}

const lines: string[] = []

let secrets: string[]
const sale = sharedSale({
  rates: [rate],
  settings: { LOG_LEVEL: 'trace' },
  onLog: (line) => lines.push(line),
})
beforeAll(async () => {
  secrets = await useEverything()
})

/** Does all that clients and buyers do, and most of their mistakes. Returns the values that no log line may
 *  contain. */
async function useEverything(): Promise<string[]> {
  const { channel, integration } = sale
  const made = await checkOut(sale, body, { 'idempotency-key': 'secret-idempotency' })
  expect(made.statusCode, made.body).toBe(200)
  const { data } = made.json<{ data: Checkout }>()
  const id = data.tickets[0]?._id
  const page = new URL(data.payment_url).pathname
  expect((await sale.rest('GET', page)).statusCode).toBe(200)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await sale.rest('POST', page, { headers: form, body: 'action=pay' })).statusCode).toBe(303)
  for (const headers of [integration.v1, integration.v2])
    expect((await sale.rest('GET', `/integrations/tickets/${id}`, { headers })).json().data.status).toBe(
      'activated',
    )
  await sale.graphql(
    'query ($id: ID!) { ticket(id: $id) { attendee { fullName email } payment { pageUrl } } }',
    { id },
    channel,
  )

  const wrong = [
    checkOut(sale, { ...body, tickets: [{ ...entry, email: 'secretia@', phone: person.email }] }),
    checkOut(sale, { ...body, tickets: [entry] }, { 'idempotency-key': 'secret-idempotency-2' }),
    sale.rest('POST', '/tickets/checkout', {
      headers: { ...channel, 'content-type': 'application/json' },
      body: `{"${person.email}`,
    }),
    sale.rest('GET', `/events?search=${person.email}&${person.phone}=1`, { headers: channel }),
    sale.rest('GET', `/${person.email}/${person.personal_document_number}`),
    sale.rest('GET', `/%zz${person.email}`),
    sale.rest('GET', `/integrations/tickets/${person.email}`, { headers: integration.v2 }),
    sale.rest('GET', '/events', { headers: { 'x-api-key': `${channel['x-api-key']}x` } }),
    sale.rest('GET', '/events', { headers: { ...integration.v1, secret: 'secret-guess' } }),
    sale.rest('GET', `${page}x`),
  ]
  const refused = await Promise.all(wrong)
  expect(refused.map(({ statusCode }) => statusCode)).toEqual([
    400, 409, 400, 400, 404, 400, 404, 401, 401, 404,
  ])
  const checkout = 'mutation ($input: CheckoutInput!) { checkout(input: $input) { __typename } }'
  const ticket = toTicket(toCamelCase(person) as Record<string, unknown>)
  await sale.graphql(
    checkout,
    { input: { items: [{ ticketRateId: 'rate_1', tickets: [ticket] }], idempotencyKey: 'once' } },
    channel,
  )
  await sale.graphql(
    `{ event(by: { id: "${person.email}" }) { ${person.personal_document_number.slice(-1)} } }`,
    {},
    channel,
  )
  return [
    ...Object.values(person).filter((value) => value.length > 3),
    ...[
      'A secret answer',
      'secret-thanks',
      'secret-sorry',
      'secret-order',
      'secret-idempotency',
      'secret-guess',
    ],
    ...[channel['x-api-key'], integration.v2['x-api-key'], integration.v1.secret],
    page.slice('/pay/'.length),
  ].map((secret) => secret ?? '')
}

const namesAt = (level: string) =>
  new Set(
    lines
      .map((line) => JSON.parse(line))
      .filter((line) => line.level === level)
      .flatMap(Object.keys),
  )

test('logs contain no personal data, purchase, key or address at any level', () => {
  const log = lines.join('')
  expect(secrets).toHaveLength(18)
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(3)
    expect(log).not.toContain(secret)
    expect(log).not.toContain(encodeURIComponent(secret))
  }
  expect(log).not.toMatch(/secret|select |insert |\$1|box_live_|node_modules|127\.0\.0\.1/i)
})

test('logs have one line a request, with its route, status and id', async () => {
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  expect(requests.length).toBeGreaterThan(15)
  expect([...namesAt('info')].sort()).toEqual([
    'channel',
    'codes',
    'integration',
    'level',
    'method',
    'ms',
    'msg',
    'request_id',
    'route',
    'status',
    'time',
    'trace_id',
  ])
  expect(new Set(requests.map(({ route }) => route))).toEqual(
    new Set([
      '/tickets/checkout',
      '/pay/*',
      '/integrations/tickets/:ticketId',
      '/graphql',
      '/events',
      'unknown',
    ]),
  )
  lines.length = 0
  const { headers } = await sale.rest('GET', '/events?limit=0', { headers: sale.channel })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { method: 'GET', route: '/events', status: 400, request_id: headers['x-request-id'] },
  ])
})

test('control: the log captures what is written to it', () => {
  lines.length = 0
  sale.app.log.trace({ email: person.email }, 'control')
  expect(lines.join('')).toContain(person.email)
})
