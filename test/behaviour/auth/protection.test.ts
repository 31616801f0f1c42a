import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { type Gateway, startGateway } from '../../support/harness.ts'
import { refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const typename = { query: '{ __typename }' }

const sale = sharedSale({ listen: true })

type Method = 'GET' | 'POST' | 'OPTIONS'
const everywhere: [Method, string][] = [
  ['GET', '/events'],
  ['POST', '/graphql'],
  ['GET', '/events?limit=0'],
  ['GET', '/integrations/tickets/x'],
  ['POST', '/tickets/checkout'],
  ['GET', '/nothing'],
  ['GET', '/%zz'],
  ['GET', '/health'],
  ['GET', '/openapi.json'],
]

test.each(everywhere)('%s %s has security headers', async (method, url) => {
  const body = method === 'POST' ? typename : undefined
  const { headers } = await sale.rest(method, url, { headers: sale.channel, body })
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['x-request-id']).toMatch(/^[\da-f-]{36}$/)
  expect(headers).not.toHaveProperty('server')
  expect(headers).not.toHaveProperty('x-powered-by')
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  if (url === '/%zz') return
  expect(headers['x-frame-options'] ?? headers['content-security-policy']).toBeTruthy()
  expect(headers['content-security-policy']).toContain('default-src')
  expect(headers['referrer-policy']).toBe('no-referrer')
})

const preflight = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'x-api-key,content-type',
})

test('CORS: no origin is allowed by default', async () => {
  for (const url of ['/events', '/graphql', '/tickets/checkout']) {
    for (const origin of ['https://shop.example', 'null', 'http://127.0.0.1:4000']) {
      const answer = await sale.rest('OPTIONS', url, { headers: preflight(origin) })
      expect(answer.statusCode).toBe(405)
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  }
})

describe('with CORS_ORIGINS', () => {
  let open: Gateway
  beforeAll(async () => {
    open = await startGateway({ settings: { CORS_ORIGINS: 'https://shop.example, https://pay.example' } })
  })
  afterAll(() => open.close())

  const allowed = async (url: string, origin: string) => {
    const before = await open.rest('OPTIONS', url, { headers: preflight(origin) })
    const body = url === '/graphql' ? typename : undefined
    const answer = await open.rest(body ? 'POST' : 'GET', url, { headers: { origin }, body })
    expect(before.statusCode).toBe(204)
    if (before.headers['access-control-allow-origin'])
      expect(before.headers['access-control-max-age']).toBe('600')
    for (const { headers } of [before, answer]) {
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
      expect(headers.vary).toMatch(/origin/i)
    }
    return [before, answer].map(({ headers }) => headers['access-control-allow-origin'])
  }

  test.each(['/events', '/graphql', '/nothing'])(
    'CORS: %s allows the origins in CORS_ORIGINS only',
    async (url) => {
      expect(await allowed(url, 'https://shop.example')).toEqual(Array(2).fill('https://shop.example'))
      expect(await allowed(url, 'https://pay.example')).toEqual(Array(2).fill('https://pay.example'))
      for (const origin of [
        'https://shop.example.evil.com',
        'http://shop.example',
        'https://evil.com',
        'null',
      ])
        expect(await allowed(url, origin)).toEqual([undefined, undefined])
    },
  )

  test('CORS: preflight allows credential headers and exposes the request id', async () => {
    const { headers } = await open.rest('OPTIONS', '/events', { headers: preflight('https://shop.example') })
    expect(headers['access-control-allow-headers']).toBe('x-api-key,content-type')
    const answer = await open.rest('GET', '/events', { headers: { origin: 'https://shop.example' } })
    expect(answer.headers['access-control-expose-headers']).toContain('x-request-id')
  })

  test.each([
    ['of nobody', {}],
    ['of a known origin', { origin: 'https://shop.example' }],
    ['with the method of a preflight alone', { 'access-control-request-method': 'POST' }],
  ])(
    'CORS: OPTIONS %s is no preflight, and is answered like any method that a path lacks',
    async (_whose, headers) => {
      for (const [url, allow] of [
        ['/events', 'GET, HEAD'],
        ['/graphql', 'GET, POST'],
        ['/health', 'GET, HEAD'],
      ] as const) {
        const answer = await open.rest('OPTIONS', url, { headers })
        expect([url, answer.statusCode, answer.headers.allow]).toEqual([url, 405, allow])
        const { code, errors } = answer.json()
        expect(code ?? errors[0].extensions.code).toBe('METHOD_NOT_ALLOWED')
      }
      expect((await open.rest('OPTIONS', '/nothing', { headers })).statusCode).toBe(404)
    },
  )
})

/** Sends raw bytes and returns the response, split into head and body. */
async function sendRaw(text: string): Promise<{ head: string; body: string }> {
  const socket = connect(Number(new URL(sale.url).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.on('error', () => {})
  socket.write(text)
  await closed
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { head, body }
}

const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`

test.each([
  ['/tickets/checkout', { success: false, code: 'BODY_TOO_LARGE', errors: [{ code: 'BODY_TOO_LARGE' }] }],
  ['/graphql', { errors: [{ extensions: { code: 'BODY_TOO_LARGE' } }] }],
])('a chunked body to %s over 256 kB is refused', async (path, body) => {
  const head = [
    'host: x',
    'content-type: application/json',
    'transfer-encoding: chunked',
    'connection: close',
  ]
  const key = `x-api-key: ${sale.channel['x-api-key']}`
  const answer = await sendRaw(
    `POST ${path} HTTP/1.1\r\n${[...head, key].join('\r\n')}\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`,
  )
  expect(answer.head).toMatch(/^HTTP\/1.1 413 /)
  expect(JSON.parse(answer.body)).toMatchObject(body)
})

test('a body just under 256 kB is read', async () => {
  const body = { ticket_rate_id: 'x', tickets: [], redirect_url: 'x'.repeat(256 * 1024 - 70) }
  const answer = await sale.rest('POST', '/tickets/checkout', { headers: sale.channel, body })
  expect(refusal(answer)).toBe('400 INVALID redirect_url')
})

test.each([
  ['bytes that are not HTTP', 'HELLO\r\n\r\n', /^HTTP\/1.1 400 /],
  ['an unknown method', 'BUY /events HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1.1 400 /],
  [
    'two lengths',
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
    /^HTTP\/1.1 400 /,
  ],
  [
    'a length and chunks',
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    /^HTTP\/1.1 400 /,
  ],
  [
    'headers of 32 kB',
    `GET /events HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(32_768)}\r\n\r\n`,
    /^HTTP\/1.1 431 /,
  ],
  [
    'a URL of 32 kB',
    `GET /events?search=${'x'.repeat(32_768)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    /^HTTP\/1.1 431 /,
  ],
])('%s gets an error in the documented shape', async (_what, text, status) => {
  const { head, body } = await sendRaw(text)
  expect(head).toMatch(status)
  const { request_id, ...rest } = JSON.parse(body)
  const problem = { code: 'BAD_REQUEST', message: rest.message }
  expect(rest).toEqual({ success: false, ...problem, errors: [problem] })
  expect(request_id).toMatch(/^[\da-f-]{36}$/)
})

test('a URL with a host is served by its path, and links keep our own host', async () => {
  const request = [
    'GET http://evil.example/events?limit=1&offset=1 HTTP/1.1',
    'host: evil.example',
    'connection: close',
  ]
  const { head } = await sendRaw(
    `${[...request, `x-api-key: ${sale.channel['x-api-key']}`].join('\r\n')}\r\n\r\n`,
  )
  expect(head).toMatch(/^HTTP\/1.1 200 /)
  expect(head).toContain(`link: <${sale.url}/events?limit=1&offset=0>; rel="prev"`)
  expect(head).not.toContain('evil')
})

test.each(['GET', 'HEAD', 'OPTIONS', 'POST'])('%s * is 400', async (method) => {
  const { head, body } = await sendRaw(
    `${method} * HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
  )
  expect(head).toMatch(/^HTTP\/1.1 400 /)
  if (method !== 'HEAD') expect(JSON.parse(body)).toMatchObject({ success: false, code: 'BAD_REQUEST' })
})

test('no route or mutation imports, seeds or issues keys', () => {
  // Every route that accepts a body.
  const routes = sale.app.printRoutes({ commonPrefix: false, includeHooks: false })
  const methods = [...routes.matchAll(/\(([A-Z, ]+)\)/g)].map(([, methods = '']) => methods)
  expect(methods.length).toBeGreaterThan(8)
  const taking = routes.split('\n').filter((line) => /\((?!(GET|HEAD|, )*\))/.test(line))
  expect(taking.map((line) => line.replace(/^[│├└─\s]*/, ''))).toEqual([
    'graphql (GET, POST)',
    '* (GET, HEAD, POST)',
    // Below `tickets`.
    '/checkout (POST)',
  ])
  expect(Object.keys(schema.getMutationType()?.getFields() ?? {}).toSorted()).toEqual([
    ...['cancelPayment', 'cancelTickets', 'checkInTicket', 'checkInTickets', 'checkout'],
    ...['deleteWebhook', 'disableWebhook'],
    ...['enableWebhook', 'issueInvitations', 'redeemSupplement', 'redeliverWebhook', 'refundTickets'],
    ...['registerWebhook', 'resendTickets', 'returnTicket', 'rotateWebhookSecret', 'sellAtBoxOffice'],
    ...['transferTicket', 'updateAttendees', 'updateWebhook'],
  ])
})
