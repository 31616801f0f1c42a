import { expect, test } from 'vitest'
import { anEntry } from '../../support/checkouts.ts'
import { aRateNamed } from '../../support/factories.ts'
import { countCheckoutRows, graphqlRefusal, noRows, refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const rate = aRateNamed('1')

const sale = sharedSale({ rates: [rate] })

const asJson = { 'content-type': 'application/json' }
const body = JSON.stringify({ ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] })
const post = (body: string | Buffer, headers: Record<string, string> = asJson) =>
  sale.rest('POST', '/tickets/checkout', { headers: { ...sale.channel, ...headers }, body })
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

type Body = [what: string, body: string | Buffer, headers: Record<string, string>, answer: string]

test.each<Body>([
  ['nothing', '', asJson, '400 BAD_REQUEST'],
  ['white space', ' \n', asJson, '400 BAD_REQUEST'],
  ['half an object', body.slice(0, -1), asJson, '400 BAD_REQUEST'],
  ['two objects', body + body, asJson, '400 BAD_REQUEST'],
  ['NaN', '{"ticket_rate_id":NaN}', asJson, '400 BAD_REQUEST'],
  ['a bare control character', '{"ticket_rate_id":"\u0000"}', asJson, '400 BAD_REQUEST'],
  ['null', 'null', asJson, '400 INVALID'],
  ['a string', '"{}"', asJson, '400 INVALID'],
  ['a number', '1', asJson, '400 INVALID'],
  ['an array', `[${body}]`, asJson, '400 INVALID'],
  ['an array nested past any stack', nested(100_000), asJson, '400 BAD_REQUEST'],
  ['__proto__', '{"__proto__":{"ticket_rate_id":"rate_1"}}', asJson, '400 BAD_REQUEST'],
  ['an escaped __proto__', '{"\\u005f_proto__":{"tickets":[]}}', asJson, '400 BAD_REQUEST'],
  ['bytes that are not UTF-8', Buffer.from(body, 'latin1'), asJson, '400 BAD_REQUEST'],
  ['UTF-16', Buffer.from(body, 'utf16le'), asJson, '400 BAD_REQUEST'],
  ['Latin-1', body, { 'content-type': 'application/json; charset=iso-8859-1' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  ['gzip', body, { ...asJson, 'content-encoding': 'gzip' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  ['text', body, { 'content-type': 'text/plain' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  [
    'a form',
    'ticket_rate_id=rate_1',
    { 'content-type': 'application/x-www-form-urlencoded' },
    '415 UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'a multipart form',
    body,
    { 'content-type': 'multipart/form-data; boundary=x' },
    '415 UNSUPPORTED_MEDIA_TYPE',
  ],
  ['XML', '<a/>', { 'content-type': 'application/xml' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  ['a malformed content type', body, { 'content-type': 'json' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  ['no content type', Buffer.from(body), {}, '415 UNSUPPORTED_MEDIA_TYPE'],
  [
    'more than 256 kB',
    JSON.stringify({ redirect_url: 'x'.repeat(256 * 1024) }),
    asJson,
    '413 BODY_TOO_LARGE',
  ],
])('a checkout with a body of %s is refused', async (_what, body, headers, answer) => {
  expect(refusal(await post(body, headers))).toBe(answer)
  expect(await countCheckoutRows(sale)).toEqual(noRows)
})

test('a checkout without a body is refused', async () => {
  const answer = await sale.rest('POST', '/tickets/checkout', { headers: sale.channel })
  expect(refusal(answer)).toBe('400 INVALID')
})

test('a checkout with a thousand errors lists a hundred', async () => {
  const answer = await post(`{"ticket_rate_id":"rate_1","tickets":[${'0,'.repeat(999)}0]}`)
  expect(answer.statusCode).toBe(400)
  expect(answer.json().errors).toHaveLength(100)
  expect(answer.body.length).toBeLessThan(20_000)
})

test('a checkout in UTF-8 with a byte order mark and a named charset is accepted', async () => {
  const odd = { 'content-type': 'Application/JSON; charset="UTF-8"', 'content-encoding': 'identity' }
  expect((await post(`\ufeff${body}`, odd)).statusCode).toBe(200)
  expect(await countCheckoutRows(sale)).toEqual({ payments: 1, tickets: 1, keys: 0, places: 2 })
})

const get = (url: string) => sale.rest('GET', url, { headers: sale.channel })

test.each([
  ['limit=0', 'INVALID limit'],
  ['limit=-1', 'INVALID limit'],
  ['limit=101', 'INVALID limit'],
  ['limit=1.5', 'INVALID limit'],
  ['limit=1e1', 'INVALID limit'],
  ['limit=0x10', 'INVALID limit'],
  ['limit=NaN', 'INVALID limit'],
  ['limit=%201', 'INVALID limit'],
  ['limit=1&limit=1', 'INVALID limit'],
  [`limit=${'9'.repeat(400)}`, 'INVALID limit'],
  ['offset=-1', 'INVALID offset'],
  ['offset=10001', 'INVALID offset'],
  ['offset=2147483648', 'INVALID offset'],
  ['offset=0.5', 'INVALID offset'],
  ['offset=Infinity', 'INVALID offset'],
  ['start_date=2026-02-30', 'INVALID start_date'],
  ['start_date=2026-02-30T00:00:00Z', 'INVALID start_date'],
  ['start_date=2026-01-01T24:00:00Z', 'INVALID start_date'],
  ['start_date=2026-01-01T00:00:00%2B25:00', 'INVALID start_date'],
  ['start_date=1767225600', 'INVALID start_date'],
  ['start_date=0000-12-31', 'INVALID start_date'],
  ['start_date=0001-01-01T00:00:00%2B00:01', 'INVALID start_date'],
  ['end_date=9999-12-31T23:59:59-00:01', 'INVALID end_date'],
  ['end_date=10000-01-01', 'INVALID end_date'],
  ['end_date=%2B012026-01-01T00:00:00Z', 'INVALID end_date'],
  ['end_date=now', 'INVALID end_date'],
  ['end_date=2026-01-01&end_date=2026-01-02', 'INVALID end_date'],
  ['populate=prices', 'INVALID populate.0'],
  ['populate=*&populate=*', 'INVALID populate'],
  ['lat=91&lng=0', 'INVALID lat'],
  ['lat=-90.1&lng=0', 'INVALID lat'],
  ['lat=0&lng=180.1', 'INVALID lng'],
  ['lat=0&lng=-181', 'INVALID lng'],
  [`lat=${'9'.repeat(400)}&lng=0`, 'INVALID lat'],
  ['lat=1e-320&lng=0', 'INVALID lat'],
  ['lat=NaN&lng=0', 'INVALID lat'],
  ['lat=40', 'REQUIRED lng'],
  ['lng=3', 'REQUIRED lat'],
  ['radius=5', 'REQUIRED lat'],
  ['lat=40&radius=5', 'REQUIRED lng'],
  ['lat=0&lng=0&radius=0', 'INVALID radius'],
  ['lat=0&lng=0&radius=-1', 'INVALID radius'],
  ['lat=0&lng=0&radius=500.01', 'INVALID radius'],
  [`search=${'x'.repeat(201)}`, 'INVALID search'],
  ['search=%00', 'INVALID search'],
  ['search=a&search=b', 'INVALID search'],
  ['organization_id=%00', 'INVALID organization_id'],
  [`organization_id=${'x'.repeat(65)}`, 'INVALID organization_id'],
  ["location_id='%20or%20true--", 'INVALID location_id'],
  ['location_id=loc_1&location_id=loc_1', 'INVALID location_id'],
  ['q=ana', 'UNKNOWN_FIELD q'],
  ['Limit=1', 'UNKNOWN_FIELD Limit'],
  ['__proto__=1', 'UNKNOWN_FIELD __proto__'],
  ['constructor=1', 'UNKNOWN_FIELD constructor'],
  ['=1', 'UNKNOWN_FIELD '],
  ['limit=0&offset=-1&colour=red', 'INVALID limit INVALID offset UNKNOWN_FIELD colour'],
  ['search=%zz', 'BAD_REQUEST'],
  ['search=%ff', 'BAD_REQUEST'],
  ['search=%ED%A0%80', 'BAD_REQUEST'],
])('GET /events?%s is refused', async (query, problems) => {
  expect(refusal(await get(`/events?${query}`))).toBe(`400 ${problems}`)
})

test.each([
  'limit=1',
  'limit=100',
  'offset=0',
  'offset=10000',
  'start_date=0001-01-01&end_date=9999-12-31',
  'lat=90&lng=180&radius=500',
  'lat=-90&lng=-180&radius=0.001',
  `lat=0.${'0'.repeat(320)}1&lng=0.${'0'.repeat(160)}1`,
  `search=${encodeURIComponent('ﷺ'.repeat(200))}`,
  'search=',
  'populate=*,ticket-rates',
  'populate=ticket_rates,',
  'populate=&organization_id=&limit=&lat=&lng=&radius=&start_date=&location_id=',
  '&&',
])('GET /events?%s is accepted', async (query) => {
  expect((await get(`/events?${query}`)).statusCode).toBe(200)
})

test('a slash at the end of a path is ignored, and ticket_rates are ticket-rates', async () => {
  const pages = await Promise.all(
    ['/events?populate=ticket-rates', '/events/?populate=ticket_rates'].map(get),
  )
  expect(pages.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  expect(pages[1]?.json()).toEqual(pages[0]?.json())
  expect(pages[1]?.json().data[0].ticket_rates).toHaveLength(1)
})

test.each(['/events/nobody', '/payments/nobody', '/health'])(
  'the slash at the end of %s/ is ignored',
  async (path) => {
    const answers = await Promise.all([path, `${path}/`].map(get))
    const [plain, withSlash] = answers.map(({ statusCode, body }) => [
      statusCode,
      body.replace(/"request_id":"[^"]*"/, ''),
    ])
    expect(withSlash).toEqual(plain)
  },
)

test.each([
  ['q=ana', 'There is no such field. Did you mean search?'],
  ['serach=ana', 'There is no such field. Did you mean search?'],
  ['location=loc_1', 'There is no such field. Did you mean location_id?'],
  ['colour=red', 'There is no such field.'],
])('GET /events?%s is refused with a hint', async (query, message) => {
  expect((await get(`/events?${query}`)).json()).toMatchObject({ code: 'UNKNOWN_FIELD', message })
})

test.each([
  ['GET', '/nothing', '404 NOT_FOUND', undefined],
  ['GET', '/EVENTS', '404 NOT_FOUND', undefined],
  ['GET', '//events', '404 NOT_FOUND', undefined],
  ['GET', '/events/evt_1/rates', '404 NOT_FOUND', undefined],
  ['GET', '/docs/static/nothing.js', '404 NOT_FOUND', undefined],
  ['GET', '/docs/static/..%2F..%2Fpackage.json', '404 NOT_FOUND', undefined],
  ['GET', '/%zz', '400 BAD_REQUEST', undefined],
  ['GET', '/events%ff', '400 BAD_REQUEST', undefined],
  ['POST', '/events', '405 METHOD_NOT_ALLOWED', 'GET, HEAD'],
  ['DELETE', '/events', '405 METHOD_NOT_ALLOWED', 'GET, HEAD'],
  ['OPTIONS', '/events', '405 METHOD_NOT_ALLOWED', 'GET, HEAD'],
  ['GET', '/tickets/checkout', '405 METHOD_NOT_ALLOWED', 'POST'],
  ['PUT', '/tickets/checkout', '405 METHOD_NOT_ALLOWED', 'POST'],
  ['POST', '/integrations/tickets', '405 METHOD_NOT_ALLOWED', 'GET, HEAD'],
  ['PATCH', '/integrations/tickets/tkt_1', '405 METHOD_NOT_ALLOWED', 'GET, HEAD'],
  ['POST', '/health', '405 METHOD_NOT_ALLOWED', 'GET, HEAD'],
] as const)('%s %s is %s', async (method, url, expected, allow) => {
  const answer = await sale.rest(method, url, { headers: sale.channel })
  expect(refusal(answer)).toBe(expected)
  expect(answer.headers.allow).toBe(allow)
})

test('an unknown path is a page to a browser, in its language, and JSON to anything else', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const url of ['/nothing', '/docs/nothing', '/graphql/nothing']) {
    const answer = await sale.rest('GET', url, { headers: { accept, 'accept-language': 'de' } })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(answer.headers.vary).toContain('accept')
    expect(answer.body).toContain('Diese Seite gibt es nicht')
    expect(answer.body).toContain('href="/"')
    // Below GraphQL an error is one of GraphQL.
    const refusalOf = url.startsWith('/graphql') ? graphqlRefusal : refusal
    for (const other of ['*/*', 'application/json'])
      expect(refusalOf(await sale.rest('GET', url, { headers: { accept: other } }))).toBe('404 NOT_FOUND')
  }
})

test('HEAD is answered like GET, without the body', async () => {
  const head = await sale.rest('HEAD', '/events', { headers: sale.channel })
  expect([head.statusCode, head.body]).toEqual([200, ''])
  expect(head.headers['content-length']).toBe((await get('/events')).headers['content-length'])
  expect((await sale.rest('HEAD', '/events')).statusCode).toBe(401)
})

test.each([
  ['tkt_01jtz3v9e8k2m4n6p8q0r2s4t6', '404 NOT_FOUND ticket_id'],
  ['x', '404 NOT_FOUND ticket_id'],
  ['x'.repeat(200), '404 NOT_FOUND ticket_id'],
  ['', '404 NOT_FOUND ticket_id'],
  ['%00', '404 NOT_FOUND ticket_id'],
  ['%F0%9F%8E%AB', '404 NOT_FOUND ticket_id'],
  ["'%20or%20''='", '404 NOT_FOUND ticket_id'],
  ['..%2F..%2Fetc%2Fpasswd', '404 NOT_FOUND ticket_id'],
  ['x'.repeat(201), '400 BAD_REQUEST'],
  ['%zz', '400 BAD_REQUEST'],
  ['%ff', '400 BAD_REQUEST'],
  ['x?expand=1', '400 UNKNOWN_FIELD expand'],
])('a lookup of «%s» is %s', async (id, expected) => {
  const answer = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
  expect(refusal(answer)).toBe(expected)
})
