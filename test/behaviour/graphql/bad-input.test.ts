import { afterEach, expect, test } from 'vitest'
import { aRateNamed } from '../../support/factories.ts'
import { countCheckoutRows, graphqlRefusal, noRows } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const rate = aRateNamed('1')

const sale = sharedSale({ rates: [rate] })
// No test here sells anything.
afterEach(async () => {
  expect(await countCheckoutRows(sale)).toEqual(noRows)
})

const asJson = { 'content-type': 'application/json' }
const typename = JSON.stringify({ query: '{ __typename }' })

const send = (body: string | Buffer, headers: Record<string, string> = asJson) =>
  sale.rest('POST', '/graphql', {
    headers: { ...sale.channel, accept: 'application/json', ...headers },
    body,
  })
const ask = (query: string, variables?: object, more?: object) =>
  send(JSON.stringify({ query, variables, ...more }))
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

type Body = [what: string, body: string | Buffer, headers: Record<string, string>, answer: string]

test.each<Body>([
  ['nothing', '', asJson, '400 BAD_REQUEST'],
  ['half an object', typename.slice(0, -1), asJson, '400 BAD_REQUEST'],
  ['null', 'null', asJson, '400 BAD_REQUEST'],
  ['a string', '"{ __typename }"', asJson, '400 BAD_REQUEST'],
  ['a number', '0', asJson, '400 BAD_REQUEST'],
  ['false', 'false', asJson, '400 BAD_REQUEST'],
  ['a batch', `[${typename}]`, asJson, '400 BAD_REQUEST'],
  ['an array nested past any stack', nested(100_000), asJson, '400 BAD_REQUEST'],
  ['an empty object', '{}', asJson, '400 REQUIRED query'],
  ['no query', '{"variables":{}}', asJson, '400 REQUIRED query'],
  ['an empty query', '{"query":""}', asJson, '400 REQUIRED query'],
  ['a query that is a number', '{"query":1}', asJson, '400 INVALID query'],
  ['a query of null', '{"query":null}', asJson, '400 REQUIRED query'],
  ['variables in an array', '{"query":"{ __typename }","variables":[]}', asJson, '400 INVALID variables'],
  ['variables as text', '{"query":"{ __typename }","variables":"{}"}', asJson, '400 INVALID variables'],
  [
    'an operation that is a number',
    '{"query":"{ __typename }","operationName":1}',
    asJson,
    '400 INVALID operationName',
  ],
  ['extensions as text', '{"query":"{ __typename }","extensions":""}', asJson, '400 INVALID extensions'],
  ['__proto__', '{"query":"{ __typename }","__proto__":{}}', asJson, '400 BAD_REQUEST'],
  [
    '__proto__ in variables',
    '{"query":"{ __typename }","variables":{"__proto__":{}}}',
    asJson,
    '400 BAD_REQUEST',
  ],
  [
    'an unknown operation',
    '{"query":"query A { __typename }","operationName":"B"}',
    asJson,
    '200 BAD_REQUEST',
  ],
  [
    'two operations and no name',
    '{"query":"query A { a: __typename } query B { b: __typename }"}',
    asJson,
    '200 BAD_REQUEST',
  ],
  [
    'bytes that are not UTF-8',
    Buffer.from('{"query":"{ __typename } # ñ"}', 'latin1'),
    asJson,
    '400 BAD_REQUEST',
  ],
  ['Latin-1', typename, { 'content-type': 'application/json; charset=latin1' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  ['gzip', typename, { ...asJson, 'content-encoding': 'gzip' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  ['text', typename, { 'content-type': 'text/plain' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  ['a document', '{ __typename }', { 'content-type': 'application/graphql' }, '415 UNSUPPORTED_MEDIA_TYPE'],
  [
    'a form',
    'query={__typename}',
    { 'content-type': 'application/x-www-form-urlencoded' },
    '415 UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'a multipart form',
    '--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"{ __typename }"}\r\n--x--\r\n',
    { 'content-type': 'multipart/form-data; boundary=x' },
    '415 UNSUPPORTED_MEDIA_TYPE',
  ],
  ['no content type', Buffer.from(typename), {}, '415 UNSUPPORTED_MEDIA_TYPE'],
  [
    'more than 256 kB',
    JSON.stringify({ query: '{ __typename }', variables: { a: 'x'.repeat(256 * 1024) } }),
    asJson,
    '413 BODY_TOO_LARGE',
  ],
  ['JSON with Accept of an image', typename, { ...asJson, accept: 'image/png' }, '406 NOT_ACCEPTABLE'],
])('GraphQL with a body of %s is refused', async (_what, body, headers, answer) => {
  expect(graphqlRefusal(await send(body, headers))).toBe(answer)
})

test('GraphQL takes a body with a byte order mark, nulls and extensions', async () => {
  const body = { query: '{ __typename }', variables: null, operationName: null, extensions: { a: 1 } }
  const answer = await send(`\ufeff${JSON.stringify(body)}`)
  expect([answer.statusCode, answer.body]).toEqual([200, '{"data":{"__typename":"Query"}}'])
})

const get = (query: string) =>
  sale.rest('GET', `/graphql?${query}`, { headers: { ...sale.channel, accept: 'application/json' } })
const document = `query=${encodeURIComponent('{ __typename }')}`
const mutation = 'mutation { checkout(input: { items: [], idempotencyKey: "once" }) { __typename } }'

test.each([
  ['', '400 REQUIRED query'],
  ['query=', '400 REQUIRED query'],
  ['qurey=x', '400 REQUIRED query'],
  [`${document}&${document}`, '400 INVALID query'],
  [`${document}&variables=%7B`, '400 INVALID variables'],
  [`${document}&variables=[]`, '400 INVALID variables'],
  [`${document}&extensions=x`, '400 INVALID extensions'],
  [`${document}&variables=%ff`, '400 BAD_REQUEST'],
  ['query=%zz', '400 BAD_REQUEST'],
  [`query=${encodeURIComponent(mutation)}`, '405 METHOD_NOT_ALLOWED'],
])('GET /graphql?%s is refused', async (query, answer) => {
  expect(graphqlRefusal(await get(query))).toBe(answer)
})

// Members that GraphQL over HTTP does not know, and those that clients leave empty.
const ignored: Record<string, unknown>[] = [
  { other: 1 },
  { clientInfo: {} },
  { id: 'AppQuery' },
  { id: 5 },
  { id: '', doc_id: {}, documentId: [] },
  { operationName: '' },
  { operationName: null, variables: null, extensions: null },
]

test.each([
  ...ignored,
  ...['__proto__', 'constructor', 'toString'].map((name) => ({ [name]: 'x' }) as Record<string, unknown>),
])('GraphQL ignores %j beside a document, by POST and GET', async (more) => {
  const answer = { statusCode: 200, body: '{"data":{"__typename":"Query"}}' }
  const isJson = !Object.hasOwn(more, '__proto__')
  if (isJson) expect(await ask('{ __typename }', undefined, more)).toMatchObject(answer)
  const texts = Object.entries(more).map(([name, value]) => [name, value === null ? 'null' : String(value)])
  // As a name null is a text.
  const sent = texts.filter(([name]) => name !== 'operationName' || more.operationName !== null)
  expect(await get(`${document}&${new URLSearchParams(sent)}`)).toMatchObject(answer)
})

test.each([
  'variables=',
  'extensions=',
  'operationName=',
  'documentId=&id=&doc_id=',
  'variables=&variables2=',
])('GraphQL takes an empty %s for none', async (parameters) => {
  const answer = await get(`${document}&${parameters}`)
  expect([answer.statusCode, answer.body]).toEqual([200, '{"data":{"__typename":"Query"}}'])
})

test('GraphQL answers a query in the URL', async () => {
  const query = encodeURIComponent('query ($id: ID!) { event(by: { id: $id }) { id } }')
  const answer = await get(`query=${query}&variables=${encodeURIComponent('{"id":"evt_1"}')}`)
  expect(answer.body).toBe('{"data":{"event":{"id":"evt_1"}}}')
})

test.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const)('GraphQL by %s is 405', async (method) => {
  const answer = await sale.rest(method, '/graphql', { headers: sale.channel })
  expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, POST'])
  if (method !== 'HEAD') expect(graphqlRefusal(answer)).toBe('405 METHOD_NOT_ALLOWED')
})

test('GraphQL: a path below it is 404', async () => {
  expect(graphqlRefusal(await sale.rest('POST', '/graphql/health', {}))).toBe('404 NOT_FOUND')
})

test.each([
  ['a document that is cut off', '{ events', 'BAD_REQUEST'],
  ['NUL', '{ __typename\u0000 }', 'BAD_REQUEST'],
  ['a lone half of a pair', '{ event(by: "\ud83c", \ud83c) { id } }', 'BAD_REQUEST'],
  ['an unknown field', '{ events { nodes { price } } }', 'BAD_REQUEST'],
  ['an unknown argument', '{ events(limit: 1) { nodes { id } } }', 'BAD_REQUEST'],
  ['an unknown directive', '{ events @live { nodes { id } } }', 'BAD_REQUEST'],
  ['an unknown mutation', 'mutation { importCatalogue { id } }', 'BAD_REQUEST'],
  [
    'fragments that go in circles',
    '{ events { ...A } } fragment A on EventConnection { ...A }',
    'BAD_REQUEST',
  ],
  ['a missing argument', '{ ticket { id } }', 'BAD_REQUEST'],
  ['neither id nor slug', '{ event(by: {}) { id } }', 'BAD_REQUEST'],
  ['first 0', '{ events(first: 0) { nodes { id } } }', 'INVALID first'],
  ['first -1', '{ events(first: -1) { nodes { id } } }', 'INVALID first'],
  ['first 101', '{ events(first: 101) { nodes { id } } }', 'INVALID first'],
  ['first 2147483647', '{ events(first: 2147483647) { nodes { id } } }', 'INVALID first'],
  ['first 2147483648', '{ events(first: 2147483648) { nodes { id } } }', 'BAD_REQUEST'],
  ['first 1.5', '{ events(first: 1.5) { nodes { id } } }', 'BAD_REQUEST'],
  ['first null', '{ events(first: null) { nodes { id } } }', 'BAD_REQUEST'],
  [
    'a date not in the calendar',
    '{ events(filter: { during: { from: "2026-02-30T00:00:00Z" } }) { nodes { id } } }',
    'BAD_REQUEST',
  ],
  [
    'a date in the year 0',
    '{ events(filter: { during: { until: "0000-01-01T00:00:00Z" } }) { nodes { id } } }',
    'BAD_REQUEST',
  ],
  ['a plain date', '{ events(filter: { during: { from: "2026-12-31" } }) { nodes { id } } }', 'BAD_REQUEST'],
  [
    'a time without its zone',
    '{ events(filter: { during: { from: "2026-12-31T20:00:00" } }) { nodes { id } } }',
    'BAD_REQUEST',
  ],
  ['a date as a number', '{ events(filter: { during: { from: 0 } }) { nodes { id } } }', 'BAD_REQUEST'],
  [
    'a place off the globe',
    '{ events(filter: { near: { latitude: -90.1, longitude: 0 } }) { nodes { id } } }',
    'INVALID filter.near.latitude',
  ],
  [
    'a place at infinity',
    '{ events(filter: { near: { latitude: 1e400, longitude: 0 } }) { nodes { id } } }',
    'INVALID filter.near.latitude',
  ],
  [
    'a place with no longitude',
    '{ events(filter: { near: { latitude: 1 } }) { nodes { id } } }',
    'BAD_REQUEST',
  ],
  [
    'a circle of no size',
    '{ events(filter: { near: { latitude: 1, longitude: 1, radius: 0 } }) { nodes { id } } }',
    'INVALID filter.near.radius',
  ],
  [
    'a circle too wide',
    '{ events(filter: { near: { latitude: 1, longitude: 1, radius: 500.1 } }) { nodes { id } } }',
    'INVALID filter.near.radius',
  ],
  [
    'a long search',
    `{ events(filter: { search: "${'x'.repeat(201)}" }) { nodes { id } } }`,
    'INVALID filter.search',
  ],
  ['a search for NUL', '{ events(filter: { search: "\\u0000" }) { nodes { id } } }', 'INVALID filter.search'],
  [
    'a malformed organization id',
    '{ events(filter: { organizationId: "a b" }) { nodes { id } } }',
    'INVALID filter.organizationId',
  ],
  [
    'several mistakes at once',
    '{ events(first: 0, filter: { locationId: "" }) { nodes { id } } }',
    'INVALID filter.locationId',
  ],
  ['a malformed cursor', '{ events(after: "evt_1") { nodes { id } } }', 'INVALID after'],
  [
    'a cursor past all dates',
    `{ events(after: "${cursor('999999999999999')}") { nodes { id } } }`,
    'INVALID after',
  ],
  [
    'a cursor of no date',
    `{ events(after: "${cursor('9999999999999999')}") { nodes { id } } }`,
    'INVALID after',
  ],
  [
    'a cursor of the year 0',
    `{ events(after: "${cursor('-62135596800001')}") { nodes { id } } }`,
    'INVALID after',
  ],
  ['a long cursor', `{ events(after: "${'x'.repeat(40_000)}") { nodes { id } } }`, 'INVALID after'],
])('GraphQL with %s is refused', async (_what, query, problems) => {
  expect(graphqlRefusal(await ask(query))).toBe(`200 ${problems}`)
})

function cursor(milliseconds: string): string {
  return Buffer.from(`${milliseconds} evt_1`).toString('base64url')
}

test('GraphQL without a required variable is refused', async () => {
  expect(graphqlRefusal(await ask('query ($id: ID!) { event(by: { id: $id }) { id } }'))).toBe(
    '200 BAD_REQUEST id',
  )
})

test('GraphQL lists all argument errors of a field in one error', async () => {
  const { errors } = await sale.graphql(
    '{ events(first: 0, filter: { locationId: "" }) { totalCount } }',
    {},
    sale.channel,
  )
  expect(errors).toMatchObject([
    {
      path: ['events'],
      extensions: {
        errors: [{ extensions: { path: 'filter.locationId' } }, { extensions: { path: 'first' } }],
      },
    },
  ])
})

test('a plain date is refused with its place and what is expected there', async () => {
  const filter = { during: { from: '2026-12-31' } }
  const query = 'query ($filter: EventFilter) { events(filter: $filter) { nodes { id } } }'
  const { errors } = await sale.graphql(query, { filter }, sale.channel)
  expect(errors).toMatchObject([
    {
      message: expect.stringContaining('DateTime must be a date and a time with its time zone'),
      extensions: { path: 'filter.during.from' },
    },
  ])
})

test.each([
  ['the largest page', 'first: 100'],
  ['the smallest numbers', 'filter: { near: { latitude: 5e-324, longitude: 1e-160, radius: 5e-324 } }'],
  ['the poles and the date line', 'filter: { near: { latitude: -90, longitude: -180, radius: 500 } }'],
  ['a time of another zone', 'filter: { during: { from: "2026-12-31T20:00:00+01:00" } }'],
  ['all of time', 'filter: { during: { from: "0001-01-01T00:00:00Z", until: "9999-12-31T00:00:00Z" } }'],
  ['a cursor of the earliest time', `after: "${cursor('-62135596800000')}"`],
  ['no search', 'filter: { search: "" }'],
])('events with %s are listed', async (_what, args) => {
  const { errors } = await sale.graphql(`{ events(${args}) { totalCount nodes { id } } }`, {}, sale.channel)
  expect(errors).toBeUndefined()
})

test.each([
  'x',
  '',
  '\u0000',
  '\ud83c',
  'x'.repeat(10_000),
  "' or ''='",
  'evt_1 ',
  'EVT_1',
  '__proto__',
  '0',
])('lookups by the id %j find nothing', async (id) => {
  const fields = ['ticketRate', 'ticket', 'payment', 'node', 'event', 'organization']
  const askedFor = (field: string) => (/event|organization/.test(field) ? 'by: { id: $id }' : 'id: $id')
  const query = `query ($id: ID!) { ${fields.map((field) => `${field}(${askedFor(field)}) { id }`).join(' ')} }`
  const { data, errors } = await sale.graphql(query, { id }, sale.channel)
  expect(errors).toBeUndefined()
  expect(data).toEqual(Object.fromEntries(fields.map((field) => [field, null])))
})
