import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { watchRoutes } from '../../support/authorization/entry-points.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { openSocket } from '../../support/sockets.ts'

// Requests that Node or Fastify would answer by themselves, without a body or with one of theirs, and bytes that are none.

let sale: Sale
let routes: string[]
const lines: string[] = []
const timeouts = { headersMs: 400, requestMs: 1_200, checkMs: 50 }
beforeAll(async () => {
  const watched = await watchRoutes(() =>
    openSale({
      ...{ listen: true, timeouts, answerTimeoutMs: 300 },
      ...{ settings: { LOG_LEVEL: 'warn' }, onLog: (line: string) => lines.push(line) },
    }),
  )
  sale = watched.result
  routes = watched.routes
})
afterAll(() => sale.close())
afterEach(() => expect(lines).toEqual([]))

/** Sends bytes on a connection of their own, and reads until the service closes it. */
async function send(...parts: (string | number)[]): Promise<string> {
  const socket = await openSocket(sale.url)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  const closed = once(socket, 'close')
  for (const part of parts) {
    if (typeof part === 'number') await pause(part)
    else socket.write(part)
  }
  await closed
  return text
}

const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+) /.exec(text)?.[1])

/** Returns the status and the code of the one answer on a connection, which is in our form. */
function refusalIn(text: string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(head).toMatch(/content-type: application\/json; charset=utf-8/i)
  expect(head).toMatch(/cache-control: private, no-store/i)
  expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(Buffer.byteLength(body))
  const { code, errors } = JSON.parse(body)
  expect(errors).toHaveLength(1)
  return `${statusOf(text)} ${code ?? errors[0].extensions.code}`
}

const close = 'connection: close\r\n\r\n'
const hosts = (...names: string[]) => names.map((name) => `host: ${name}\r\n`).join('')

const oddHosts: [what: string, hosts: string, routes?: string[]][] = [
  ['none', ''],
  ['two', hosts('a.example', 'b.example')],
  ['a percent sign', hosts('%')],
  ...[
    ['a.example', 'a.example'],
    [''],
    ['a:b'],
    ['x:65536'],
    ['x/graphql?query={__typename}'],
    ['user@x'],
    ['x\\y'],
  ]
    .concat([['x#y'], ['[::1'], ['::1'], ['a b']])
    .map((names): [string, string, string[]] => [
      `«${names}»`,
      hosts(...names),
      ['GET /events', 'POST /graphql', 'GET /health', 'GET /nothing', 'PUT /events'],
    ]),
]

test.each(oddHosts)('a Host of %s is 400 on every route', async (_what, host, some = routes) => {
  expect(routes.length).toBeGreaterThan(20)
  const answers = await Promise.all(
    some.map(async (route) => {
      const text = await send(`${route.replaceAll(/[:*][\w.]*/g, 'x')} HTTP/1.1\r\n${host}${close}`)
      // HEAD has no body, and people read pages.
      const isPage = /^(GET|POST) \/(pay|tickets\/:token)/.test(route)
      return route.startsWith('HEAD') || isPage ? `${statusOf(text)} BAD_REQUEST` : refusalIn(text)
    }),
  )
  expect(new Set(answers)).toEqual(new Set(['400 BAD_REQUEST']))
})

test.each([
  'x',
  'x:',
  'x:80',
  'X.EXAMPLE:65535',
  '127.0.0.1:1',
  '[::1]',
  '[::1]:80',
  'a_b.svc',
  'xn--mnchen-3ya.de',
])('a Host of %s is served', async (host) => {
  expect(statusOf(await send(`GET /health HTTP/1.1\r\n${hosts(host)}${close}`))).toBe(200)
})

test('HTTP/1.0 is served without a Host', async () => {
  expect(statusOf(await send('GET /health HTTP/1.0\r\n\r\n'))).toBe(200)
})

test.each<[target: string, status: number]>([
  ['http://tickets.example/health', 200],
  ['HTTPS://tickets.example:443/health', 200],
  ['http://tickets.example/events?limit=1', 200],
  ['http://tickets.example/events/?limit=1', 200],
  ['http://tickets.example/graphql?query=%7B__typename%7D', 200],
  ['http://tickets.example', 200],
  ['http://tickets.example?a=b', 200],
  ['http://tickets.example/nothing', 404],
  ['http://a:b/health', 400],
  ['http:///health', 400],
  ['http://user@x/health', 400],
  ['http://tickets.example/%zz', 400],
  ['ftp://tickets.example/health', 400],
  ['health', 400],
  ['/%zz', 400],
  ['/events?limit=%ff', 400],
  [`/payments/${'x'.repeat(201)}`, 400],
])('the target %s is answered %s', async (target, status) => {
  const key = `x-api-key: ${sale.channel['x-api-key']}\r\n`
  const text = await send(`GET ${target} HTTP/1.1\r\n${hosts('x')}${key}${close}`)
  expect(statusOf(text)).toBe(status)
  if (status !== 200) refusalIn(text)
})

test('an absolute target is answered as its path, whatever it is', async () => {
  const key = `x-api-key: ${sale.channel['x-api-key']}\r\n`
  const facts = ({ 0: head, 1: body }: string[]) => [
    head?.split('\r\n')[0],
    body?.replaceAll(/[\da-f-]{36}/g, ''),
  ]
  const path = fc.stringMatching(
    /^(\/(events|tickets|graphql|pay|health|%2e|%zz|x)){0,2}\/?(\?[a-z%&=]{0,4})?$/,
  )
  await fc.assert(
    fc.asyncProperty(path, async (path) => {
      const ask = (target: string) =>
        send(`GET ${target} HTTP/1.1\r\n${hosts('x')}${key}accept: */*\r\n${close}`)
      const asPath = path.startsWith('/') ? path : `/${path}`
      const [absolute, plain] = await Promise.all([ask(`http://shop.example${path}`), ask(asPath)])
      expect(facts(absolute.split('\r\n\r\n'))).toEqual(facts(plain.split('\r\n\r\n')))
    }),
    { numRuns: 25 },
  )
})

const post = `POST /graphql HTTP/1.1\r\n${hosts('x')}content-type: application/json\r\n`
test.each<[what: string, sent: string, refused: string]>([
  ['an expectation', `GET /health HTTP/1.1\r\n${hosts('x')}expect: miracles\r\n\r\n`, '417 BAD_REQUEST'],
  [
    'headers that are too large',
    `GET /health HTTP/1.1\r\na: ${'x'.repeat(17_000)}\r\n\r\n`,
    '431 BAD_REQUEST',
  ],
  ['an address that is too long', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\n\r\n`, '431 BAD_REQUEST'],
  ['a chunk without a length', `${post}transfer-encoding: chunked\r\n\r\nnonsense\r\n`, '400 BAD_REQUEST'],
  [
    'extensions of a chunk that are too large',
    `${post}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(17_000)}`,
    '413 BAD_REQUEST',
  ],
  [
    'both a length and chunks',
    `${post}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
    '400 BAD_REQUEST',
  ],
  ['two lengths', `${post}content-length: 1\r\ncontent-length: 2\r\n\r\n`, '400 BAD_REQUEST'],
  ['a length that is none', `${post}content-length: x\r\n\r\n`, '400 BAD_REQUEST'],
  ['a version that is none', 'GET / HTTP/9.9\r\n\r\n', '400 BAD_REQUEST'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400 BAD_REQUEST'],
  ['half a request', `GET /health HTTP/1.1\r\n${hosts('x')}`, '408 BAD_REQUEST'],
  [
    'another media type',
    `${post.replace('json', 'xml')}content-length: 2\r\n${close}{}`,
    '415 UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'two media types',
    `${post}content-type: text/plain\r\ncontent-length: 2\r\n${close}{}`,
    '415 UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'a method that nobody knows',
    `PROPFIND /graphql HTTP/1.1\r\n${hosts('x')}${close}`,
    '405 METHOD_NOT_ALLOWED',
  ],
])('%s is refused in our form', async (_what, sent, refused) => {
  expect(refusalIn(await send(sent))).toBe(refused)
})

test('an expectation is no second answer on a connection that waits for one', async () => {
  const slow = `POST /graphql HTTP/1.1\r\n${hosts('x')}content-type: application/json\r\ncontent-length: 9\r\n\r\n`
  const expecting = `GET /health HTTP/1.1\r\n${hosts('x')}expect: miracles\r\n\r\n`
  const text = await send(`${slow}{"a":"b"}${expecting}`)
  expect(text.match(/HTTP\/1\.1 /g) ?? []).not.toHaveLength(2)
})

const subscription = '{"query":"subscription { changes(from: { at: NOW }) { cursor } }"}'
const key = () => `x-api-key: ${sale.channel['x-api-key']}\r\n`
const stream = () =>
  `${post}${key()}accept: text/event-stream\r\ncontent-length: ${subscription.length}\r\n\r\n${subscription}`
const query = '{"query":"{ events { nodes { id } } }"}'
const asked = () => `${post}${key()}content-length: ${query.length}\r\n\r\n${query}`

test.each<[what: string, parts: () => (string | number)[], statuses: string[]]>([
  ['garbage in an event stream', () => [stream(), 200, 'nonsense\r\n\r\n'], ['200']],
  [
    'another request in an event stream',
    () => [stream(), 200, 'GET /health HTTP/1.1\r\n\r\n', 'x\r\n\r\n'],
    ['200'],
  ],
  ['garbage right behind a request', () => [`${asked()}nonsense\r\n\r\n`], []],
  ['garbage after an answer', () => [asked(), 300, 'nonsense\r\n\r\n'], ['200', '400']],
  [
    'a broken chunk behind a request',
    () => [`${asked()}${post}transfer-encoding: chunked\r\n\r\nnonsense\r\n`],
    [],
  ],
  [
    'a broken chunk after the answer',
    () => [
      `POST /integrations/none HTTP/1.1\r\n${hosts('x')}content-length: 100\r\nexpect: 100-continue\r\n\r\n`,
      ...[200, 'x'.repeat(100), 'nonsense\r\n\r\n'],
    ],
    ['100', '404', '400'],
  ],
])('%s brings no answer of its own into another', async (_what, parts, statuses) => {
  const text = await send(...parts())
  const found = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = '']) => status)
  expect(found.length <= statuses.length || found.join() === '200').toBe(true)
  expect(statuses.slice(0, found.length)).toEqual(found.length > 0 && statuses.length > 0 ? found : [])
})

test('a body whose last bytes come late is answered, and its time begins then', async () => {
  const [start, end] = [asked().slice(0, -5), asked().slice(-5)]
  const began = performance.now()
  const text = await send(start.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'), 700, end)
  expect(performance.now() - began).toBeGreaterThan(600)
  expect(statusOf(text)).toBe(200)
  expect(text).toContain('{"data":{"events":')
})

test('a body whose last bytes never come is 408, and nothing before', async () => {
  expect(refusalIn(await send(asked().slice(0, -5)))).toBe('408 BAD_REQUEST')
})
