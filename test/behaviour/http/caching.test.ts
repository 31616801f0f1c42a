import CachePolicy from 'http-cache-semantics'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addShop } from '../../../examples/shop/src/page.ts'
import { addPosters } from '../../../examples/shop/src/poster/add-posters.ts'
import { type Code, problemCodes, refusal } from '../../../src/domain/contract/problem-codes.ts'
import { type Problem, Refusal } from '../../../src/engine/base/errors.ts'
import { watchRoutes } from '../../support/authorization/entry-points.ts'
import { buyDeliverable, deliveryCatalogue } from '../../support/deliveries.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { openSocket } from '../../support/sockets.ts'
import { stubProvider } from '../../support/stub-provider.ts'

// A cache in front of the service that obeys RFC 9111, and somebody without a key who asks it after everybody else.

type Headers = Record<string, string>
type Answer = { status: number; headers: Headers; body: string }

// The code with which a route is to refuse a request, so that each answers with each status.
const refuseWith = 'x-refuse-with'

let sale: Sale
let inject: Sale['app']['inject']
let routes: string[]
/** Values of the parameters of routes, which lead to something. */
let known: Record<string, string>
beforeAll(async () => {
  const watched = await watchRoutes(
    () =>
      openSale(deliveryCatalogue, {
        listen: true,
        provider: stubProvider({ readEvent: () => null }),
        companion: {
          link: { path: '/shop', name: 'The shop', text: 'Buy a ticket.' },
          async addTo(app, publicUrl) {
            // Before it is made to check that what it answers is documented.
            inject = app.inject.bind(app)
            await addShop(app, { key: () => 'box_pub_example', publicUrl })
            addPosters(app)
            // Says that it may be shared, and then fails.
            app.get('/late', (_request, reply) => {
              reply.header('cache-control', 'public, max-age=60')
              throw refusal('NOT_FOUND', 'There is none.')
            })
          },
        },
      }),
    (app) =>
      app.addHook('preHandler', async ({ headers }) => {
        const code = headers[refuseWith] as Code | undefined
        if (code)
          throw new Refusal({
            code,
            message: 'Refused.',
            ...(problemCodes[code] as Pick<Problem, 'status' | 'facts'>),
          })
      }),
  )
  sale = watched.result
  routes = watched.routes
  const { payment_id, payment_url, tickets } = await buyDeliverable(sale, [{}])
  const ticketId = tickets[0]?._id ?? ''
  const { data } = await sale.graphql<{ ticket: { documentUrl: string; event: { id: string } } }>(
    'query ($id: ID!) { ticket(id: $id) { documentUrl event { id } } }',
    { id: ticketId },
    sale.channel,
  )
  const { documentUrl = '', event } = data?.ticket ?? {}
  known = {
    ...{ ':paymentId': payment_id, ':ticketId': ticketId, ':eventId': event?.id ?? '' },
    ...{ ':token.pdf': new URL(documentUrl).pathname.split('/').at(-1) ?? '', ':id': 'evt_demo_1' },
    ...{ ':name': 'evt_demo_1.svg', '/pay/*': new URL(payment_url).pathname },
    ...{ '/docs/*': '/docs/static/swagger-ui.css', '/shop/*': '/shop/shop.css' },
  }
})
afterAll(() => sale.close())

async function ask(method: string, path: string, headers: Headers = {}): Promise<Answer> {
  const answer = await inject({
    ...{ method: method as 'GET', url: path, headers: { accept: 'application/json', ...headers } },
    ...(method === 'POST' && { payload: { query: '{ __typename }' } }),
  })
  return { status: answer.statusCode, headers: answer.headers as Headers, body: answer.body }
}

const requestOf = (method: string, url: string, headers: Headers = {}) => ({ method, url, headers })

/** Says why a cache may show an answer to somebody else that is not for them; null if it shows them nothing, or what
 *  they are answered themselves. */
function leakIn(request: ReturnType<typeof requestOf>, answer: Answer, toStranger: Answer): string | null {
  const { 'cache-control': control = '' } = answer.headers
  const at = `${request.method} ${request.url} ${answer.status}`
  if (!control) return `${at} says nothing of caches`
  const policy = new CachePolicy(request, answer, { shared: true })
  if (!policy.storable()) return null
  if (!/\bpublic\b/.test(control)) return `${at} may be stored: ${control}`
  const stranger = requestOf(request.method, request.url)
  if (!policy.satisfiesWithoutRevalidation(stranger)) return null
  return answer.body === toStranger.body ? null : `${at} is shown to somebody else`
}

const pathOf = (route: string) =>
  Object.entries(known).reduce((path, [name, value]) => path.replace(name, value), route)

const browser = { accept: 'text/html,*/*;q=0.8', 'accept-language': 'es' }
const callers = (): Headers[] => [
  {},
  sale.channel,
  sale.integration.v1,
  { ...browser, ...sale.channel, origin: 'https://shop.example' },
]
const inAddress = (query: string) => `/graphql?query=${encodeURIComponent(query)}`

// Addresses besides those of routes, and forms of these.
const addresses = () => [
  ...['/nothing', '/%zz', '/events?limit=0', '/graphql?extensions={}', '/docs/static/none.css'],
  ...['/docs/static/index.css?v=0', `/integrations/tickets/${'x'.repeat(300)}`, '/events?populate=*'],
  ...[inAddress('{ events { nodes { id } } }'), inAddress('{ nothing }'), inAddress('{ __typename }')],
  inAddress(`{ ticket(id: "${known[':ticketId']}") { id attendee { fullName email } } }`),
  `/graphql?extensions=${encodeURIComponent('{"persistedQuery":{"version":1,"sha256Hash":"none"}}')}`,
  `/payments/${known[':paymentId']}`,
]

test('nobody but its caller is shown an answer by a cache, whatever the route, the caller and the status', async () => {
  const paths = routes.map((route) => route.split(' ') as [string, string])
  const asked = [
    ...paths.map(([method, path]) => [method, pathOf(path)] as const),
    ...addresses().flatMap((path) => [['GET', path] as const, ['PUT', path] as const]),
  ]
  expect(asked.length).toBeGreaterThan(45)
  const statuses = new Map<string, Set<number>>()
  const leaks: (string | null)[] = []
  for (const [method, path] of asked) {
    const stranger = await ask(method, path)
    for (const headers of callers()) {
      const answer = await ask(method, path, headers)
      statuses.set(path, (statuses.get(path) ?? new Set()).add(answer.status))
      leaks.push(leakIn(requestOf(method, path, headers), answer, stranger))
      const { etag } = answer.headers
      if (!etag) continue
      const held = await ask(method, path, { ...headers, 'if-none-match': etag })
      leaks.push(leakIn(requestOf(method, path, headers), held, stranger))
      if (!/public/.test(answer.headers['cache-control'] ?? '')) {
        expect([path, answer.headers['cache-control']]).toEqual([path, 'private, no-cache'])
        // GraphiQL is the same for everybody.
        if (!answer.headers['content-type']?.startsWith('text/html'))
          expect([path, answer.headers.vary]).toEqual([path, expect.stringMatching(/x-api-key.*secret/)])
      }
    }
  }
  expect(leaks.filter((leak) => leak !== null)).toEqual([])
  // The walk found what it was to find.
  const found = (path: string, status: number) => expect([...(statuses.get(path) ?? [])]).toContain(status)
  for (const path of ['/events', '/', '/docs', '/graphql', '/health', '/shop', '/openapi.json'])
    found(path, 200)
  for (const name of [':ticketId', ':paymentId']) {
    const route = routes.find((route) => route.startsWith('GET ') && route.endsWith(name)) ?? ''
    found(pathOf(route.slice('GET '.length)), 200)
  }
  found(pathOf('/tickets/:token.pdf'), 200)
  found('/nothing', 404)
  found('/events?limit=0', 405)
})

test('nor a refusal, of any status, on any route', async () => {
  const codes = Object.entries(problemCodes).filter(
    ([, { status }], index, all) => all.findIndex(([, other]) => other.status === status) === index,
  )
  expect(codes.length).toBeGreaterThan(12)
  const leaks: (string | null)[] = []
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ')
    const answers = codes.map(async ([code, { status }]) => {
      const headers = { ...sale.channel, [refuseWith]: code }
      const answer = await ask(method, pathOf(path), headers)
      const isRefused = answer.status === status || answer.status >= 400
      if (!isRefused) leaks.push(`${route} was not refused with ${code}`)
      const stranger = { ...answer, body: '' }
      leaks.push(leakIn(requestOf(method, pathOf(path), headers), answer, stranger))
    })
    await Promise.all(answers)
  }
  expect(leaks.filter((leak) => leak !== null)).toEqual([])
})

test.each([
  [
    'an event stream',
    'GET /graphql?query=subscription{changes(from:{at:NOW}){cursor}} HTTP/1.1\r\naccept: text/event-stream',
  ],
  ['no HTTP', 'nonsense'],
  ['a header that is too large', `GET / HTTP/1.1\r\na: ${'x'.repeat(20_000)}`],
  ['an expectation that nobody meets', 'GET / HTTP/1.1\r\nexpect: miracles'],
])('nor what answers %s', async (_what, head) => {
  const socket = await openSocket(sale.url)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.write(`${head}\r\nhost: x\r\nx-api-key: ${sale.channel['x-api-key']}\r\n\r\n`)
  await expect.poll(() => text.toLowerCase()).toContain('\r\ncache-control: private, no-store\r\n')
  socket.destroy()
})

test('what may be shared says so: files of the documentation by the hash in their address', async () => {
  const page = await ask('GET', '/docs', browser)
  const file = /\/docs\/static\/[\w.-]+\.css\?v=[\w-]+/.exec(page.body)?.[0] ?? ''
  const answer = await ask('GET', file)
  expect([answer.status, answer.headers['cache-control']]).toEqual([
    200,
    'public, max-age=31536000, immutable',
  ])
  const policy = new CachePolicy(requestOf('GET', file), answer, { shared: true })
  expect(policy.satisfiesWithoutRevalidation(requestOf('GET', file))).toBe(true)
})

test.each<[what: string, headers: Headers]>([
  ['without a word of it', {}],
  ['that may be kept for a minute', { 'cache-control': 'public, max-age=60' }],
  ['that is kept until it is asked for', { 'cache-control': 'no-cache' }],
])('control: a personal answer %s is found', (_what, headers) => {
  const request = requestOf('GET', '/integrations/tickets/tkt_1', { 'x-api-key': 'box_1' })
  const stranger = { status: 401, headers: {}, body: 'UNAUTHENTICATED' }
  expect(leakIn(request, { status: 200, headers, body: 'Ana' }, stranger)).not.toBeNull()
})

test('control: a shared answer that varies with the key is shown to nobody without it', () => {
  const request = requestOf('GET', '/events', { 'x-api-key': 'box_1' })
  const headers = { 'cache-control': 'public, max-age=60', vary: 'x-api-key' }
  const stranger = { status: 401, headers: {}, body: 'UNAUTHENTICATED' }
  expect(leakIn(request, { status: 200, headers, body: 'Ana' }, stranger)).toBeNull()
})
