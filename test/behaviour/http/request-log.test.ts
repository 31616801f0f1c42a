import { beforeEach, expect, test } from 'vitest'
import { anEntry } from '../../support/checkouts.ts'
import { toItems } from '../../support/contract-input.ts'
import { aRateOf } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { openSocket, readAnswer } from '../../support/sockets.ts'

// The line that each request leaves in the log, and the identifiers that a caller may give it.

const lines: string[] = []

const sale = sharedSale({
  rates: [aRateOf(1)],
  settings: { LOG_LEVEL: 'info', SHARED_READS_MS: '60000' },
  listen: true,
  onLog: (line) => lines.push(line),
})
beforeEach(() => {
  lines.length = 0
})

type Line = {
  msg: string
  route: string
  channel?: string
  integration?: string
  operation?: string
  codes?: string[]
  ms: number
  request_id: string
  trace_id: string
  parent_id?: string
}
const logged = () => lines.map((line): Line => JSON.parse(line)).filter(({ msg }) => msg === 'request')
const theLine = () => {
  const [line, ...others] = logged()
  expect(others).toEqual([])
  if (!line) throw new Error('no request was logged')
  return line
}

const isChannel = expect.stringMatching(/^chn_/)
const isIntegration = expect.stringMatching(/^int_/)

test('a line names the channel or the integration, also where the answer was shared', async () => {
  for (let time = 0; time < 2; time++) {
    await sale.rest('GET', '/events', { headers: sale.channel })
    await sale.graphql('query Listed { events { nodes { id } } }', {}, sale.channel)
  }
  for (const headers of [sale.integration.v1, sale.integration.v2])
    await sale.rest('GET', '/integrations/tickets/tkt_0', { headers })
  await sale.rest('GET', '/events')
  await sale.rest('GET', '/schema.graphql')
  const rows = logged().map(({ route, channel, integration, codes }) => [route, channel, integration, codes])
  const list = ['/events', isChannel, undefined, undefined]
  const listed = ['/graphql', isChannel, undefined, undefined]
  const absent = ['/integrations/tickets/:ticketId', undefined, isIntegration, ['NOT_FOUND']]
  expect(rows).toEqual([
    ...[list, listed, list, listed, absent, absent],
    ['/events', undefined, undefined, ['UNAUTHENTICATED']],
    ['/schema.graphql', undefined, undefined, undefined],
  ])
})

test('a line names the GraphQL operation, of which at most 64 characters', async () => {
  await sale.graphql('query Named { __typename }', {}, sale.channel)
  expect(theLine().operation).toBe('Named')
  lines.length = 0
  await sale.graphql(`query ${'L'.repeat(500)} { __typename }`, {}, sale.channel)
  expect(theLine().operation).toBe('L'.repeat(64))
  lines.length = 0
  await sale.graphql('{ __typename }', {}, sale.channel)
  expect(theLine()).not.toHaveProperty('operation')
})

test('a name that no operation has is not logged', async () => {
  await sale.rest('POST', '/graphql', {
    headers: sale.channel,
    body: { query: 'query One { __typename }', operationName: 'ana@example.com' },
  })
  expect(theLine()).not.toHaveProperty('operation')
  expect(lines.join('')).not.toContain('ana@example')
})

const checkout = `mutation Buy($input: CheckoutInput!) { checkout(input: $input) {
  ... on Refused { errors { code } } } }`

test('a line lists the codes of errors, of refusals that are data as well', async () => {
  const input = {
    items: toItems('rate_1', [{ priceId: 'price_1', fullName: '', email: 'x' }]),
    idempotencyKey: 'once',
  }
  for (let time = 0; time < 2; time++) await sale.graphql(checkout, { input }, sale.channel)
  expect(logged().map(({ operation, codes }) => [operation, codes])).toEqual([
    ['Buy', ['INVALID']],
    ['Buy', ['INVALID']],
  ])
  lines.length = 0
  await sale.graphql('{ nothing { here } }', {}, sale.channel)
  expect(theLine().codes).toEqual(['BAD_REQUEST'])
  lines.length = 0
  await sale.graphql(
    'mutation { cancelTickets(input: { of: { ticketId: "x" } }) { __typename } }',
    {},
    sale.integration.v2,
  )
  expect(theLine().codes).toEqual(['NOT_FOUND'])
  lines.length = 0
  const body = { ticket_rate_id: 'rate_1', nothing: 1, tickets: [anEntry('price_1', { email: 'x' })] }
  await sale.rest('POST', '/tickets/checkout', { headers: sale.channel, body })
  expect(theLine().codes?.toSorted()).toEqual(['INVALID', 'UNKNOWN_FIELD'])
})

test.each([
  'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'shop-7.order_12345',
  'a'.repeat(128),
])('the request identifier %s of the caller rides in errors and in the log', async (id) => {
  const headers = { ...sale.channel, 'x-request-id': id }
  const answer = await sale.rest('GET', '/events?limit=0', { headers })
  expect([answer.headers['x-request-id'], answer.json().request_id]).toEqual([id, id])
  expect(theLine().request_id).toBe(id)
  const { errors } = await sale.graphql('{ nothing }', {}, headers)
  expect(errors?.[0]?.extensions).toMatchObject({ request_id: id })
})

test.each([
  ...[
    '',
    'short',
    'a'.repeat(129),
    '-begins-with-a-hyphen',
    'with space here',
    'ana@example.com',
    '"quoted--"',
  ],
  'box_test_abcdefgh_0123456789',
  'semi;colon;here',
])('the request identifier %j is replaced', async (id) => {
  const answer = await sale.rest('GET', '/schema.graphql', { headers: { 'x-request-id': id } })
  expect(answer.headers['x-request-id']).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/)
  expect(theLine().request_id).toBe(answer.headers['x-request-id'])
})

const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']

test.each([`00-${trace}-${span}-01`, `00-${trace}-${span}-00`, `cc-${trace}-${span}-01-what-comes-later`])(
  'traceparent %s is taken',
  async (traceparent) => {
    await sale.rest('GET', '/schema.graphql', { headers: { traceparent } })
    expect(theLine()).toMatchObject({ trace_id: trace, parent_id: span })
  },
)

test.each([
  undefined,
  '',
  `ff-${trace}-${span}-01`,
  `00-${'0'.repeat(32)}-${span}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
  `00-${trace}-${span}-01-more`,
  `00-${trace}-${span}`,
  `cc-${trace}-${span}-01.more`,
])('traceparent %s begins a trace of its own', async (traceparent) => {
  await sale.rest('GET', '/schema.graphql', { headers: traceparent === undefined ? {} : { traceparent } })
  const { trace_id, parent_id } = theLine()
  expect(trace_id).toMatch(/^[\da-f]{32}$/)
  expect(trace_id).not.toBe(trace)
  expect(parent_id).toBeUndefined()
})

test('the time of a request begins when it arrives, although the process is busy then', async () => {
  const heldUpMs = 400
  const socket = await openSocket(sale.url)
  const ask = async () => {
    lines.length = 0
    socket.write('GET /schema.graphql HTTP/1.1\r\nhost: x\r\n\r\n')
    await readAnswer(socket)
    await expect.poll(logged).toHaveLength(1)
    return theLine().ms
  }
  await ask()
  const asked = ask()
  const start = performance.now()
  while (performance.now() - start < heldUpMs);
  expect(await asked).toBeGreaterThan(heldUpMs - 50)
  // Control: the next one has not waited. A busy machine may hold it up once.
  const times = [await ask(), await ask(), await ask()]
  expect(Math.min(...times)).toBeLessThan(heldUpMs / 2)
  socket.destroy()
})
