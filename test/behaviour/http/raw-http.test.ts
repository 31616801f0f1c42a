import { once } from 'node:events'
import { expect, test } from 'vitest'
import { sharedSale } from '../../support/sale.ts'
import { openSocket } from '../../support/sockets.ts'

// Responses byte by byte: HTTP libraries silently repair much that is wrong.

const sale = sharedSale({ listen: true })

type Raw = { status: number; headers: [name: string, value: string][]; body: string }

function readHead(text: string): Raw {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(first.split(' ')[1]), headers, body: text.slice(end + 4) }
}

/** Sends a request on its own connection and reads until the server closes it. */
async function sendRaw(request: string): Promise<Raw> {
  const socket = await openSocket(sale.url)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(request)
  await once(socket, 'close')
  return readHead(Buffer.concat(chunks).toString('latin1'))
}

const valuesOf = ({ headers }: Raw, wanted: string) =>
  headers.flatMap(([name, value]) => (name === wanted ? [value] : []))

/** Lists what makes a response invalid HTTP, or keeps a connection open that was to be closed. */
function faultsIn(raw: Raw): string[] {
  const lengths = valuesOf(raw, 'content-length')
  const codings = valuesOf(raw, 'transfer-encoding')
  const names = raw.headers.map(([name]) => name)
  return [
    ...(lengths.length + codings.length === 1
      ? []
      : [`${lengths.length} lengths, ${codings.length} codings`]),
    ...(lengths.length === 1 && Number(lengths[0]) !== raw.body.length
      ? ['a length that is not the body’s']
      : []),
    ...(codings.length === 1 && !raw.body.endsWith('0\r\n\r\n') ? ['chunks without an end'] : []),
    ...names.filter((name, index) => names.indexOf(name) !== index && name !== 'set-cookie'),
    ...(valuesOf(raw, 'connection').join() === 'close' ? [] : [`connection: ${valuesOf(raw, 'connection')}`]),
    ...['keep-alive', 'upgrade', 'trailer', 'te'].filter((name) => names.includes(name)),
  ]
}

const body = (query: string) => JSON.stringify({ query })
const request = (method: string, path: string, accept: string | null, sent = '') =>
  [
    `${method} ${path} HTTP/1.1`,
    'host: x',
    'connection: close',
    `x-api-key: ${sale.channel['x-api-key']}`,
    ...(accept === null ? [] : [`accept: ${accept}`]),
    ...(sent ? ['content-type: application/json', `content-length: ${Buffer.byteLength(sent)}`] : []),
    '',
    sent,
  ].join('\r\n')

const accepts: [accept: string | null, isOffered: boolean][] = [
  [null, true],
  ['*/*', true],
  ['application/json', true],
  ['application/graphql-response+json', true],
  ['multipart/mixed, application/json', true],
  ['text/event-stream, */*', true],
  ['multipart/mixed', false],
  ['multipart/mixed;deferSpec=20220824', false],
  ['multipart/*', false],
  ['text/plain', false],
]
const asked: [what: string, method: string, path: string, sent?: string][] = [
  ['a query', 'POST', '/graphql', body('{ events { nodes { id } } }')],
  ['a query again', 'POST', '/graphql', body('{ events { nodes { id } } }')],
  ['a query in the URL', 'GET', `/graphql?query=${encodeURIComponent('{ __typename }')}`],
  ['introspection', 'POST', '/graphql', body('{ __schema { queryType { name } } }')],
  ['a malformed document', 'POST', '/graphql', body('{ events')],
  ['a field error', 'POST', '/graphql', body('{ changes(from: { after: "x" }) { nodes { type } } }')],
  [
    'a mutation',
    'POST',
    '/graphql',
    body('mutation { cancelTickets(input: { of: { ticketId: "x" } }) { __typename } }'),
  ],
]

test.each(
  accepts.flatMap(([accept, isOffered]) =>
    asked.map(([what, ...call]) => ({ what, accept, isOffered, call })),
  ),
)(
  'valid HTTP answers $what that accepts $accept',
  async ({ accept, isOffered, call: [method, path, sent] }) => {
    const raw = await sendRaw(request(method, path, accept, sent))
    expect(faultsIn(raw)).toEqual([])
    if (isOffered) expect(raw.status).not.toBe(406)
    else expect(raw.status).toBe(406)
    expect(valuesOf(raw, 'content-type')[0]).toMatch(
      /^application\/(graphql-response\+)?json; charset=utf-8$/,
    )
    expect(Object.keys(JSON.parse(raw.body)).every((name) => ['data', 'errors'].includes(name))).toBe(true)
  },
)

test.each(
  ['text/event-stream', 'text/*'].flatMap((accept) =>
    asked.map(([what, ...call]) => ({ what, accept, call })),
  ),
)('valid HTTP streams $what that accepts $accept', async ({ accept, call: [method, path, sent] }) => {
  const raw = await sendRaw(request(method, path, accept, sent))
  expect(faultsIn(raw)).toEqual([])
  expect(raw.status).toBe(200)
  expect(valuesOf(raw, 'content-type')).toEqual(['text/event-stream; charset=utf-8'])
  expect(raw.body).toMatch(/event: next\ndata: \{"(data|errors)":/)
})

test('a mutation with an Accept header that cannot be met is not run', async () => {
  const register =
    'mutation { registerWebhook(input: { url: "https://hooks.example/a", idempotencyKey: "once" }) { __typename } }'
  const raw = await sendRaw(request('POST', '/graphql', 'multipart/mixed', body(register)))
  expect(raw.status).toBe(406)
  const { data } = await sale.graphql('{ webhooks { id } }', {}, sale.channel)
  expect(data).toEqual({ webhooks: [] })
})

test.each([
  ['GET', '/events'],
  ['GET', '/events?populate=*'],
  ['GET', '/events?limit=0'],
  ['GET', '/nothing'],
  ['GET', '/health'],
  ['GET', '/'],
  ['GET', '/schema.graphql'],
  ['POST', '/tickets/checkout'],
])('valid HTTP answers %s %s, whatever it accepts', async (method, path) => {
  for (const accept of [null, 'multipart/mixed', 'text/event-stream'])
    expect(faultsIn(await sendRaw(request(method, path, accept)))).toEqual([])
})

test.each([
  [
    'both length and chunks',
    'content-length: 12\r\ntransfer-encoding: chunked\r\nconnection: close',
    '2\r\n{}\r\n0\r\n\r\n',
  ],
  ['neither length nor chunks', 'connection: close', ''],
  ['a wrong length', 'content-length: 3\r\nconnection: close', '{}'],
  ['a connection that stays', 'content-length: 2\r\nconnection: keep-alive', '{}'],
  ['a header twice', 'vary: a\r\nvary: b\r\ncontent-length: 2\r\nconnection: close', '{}'],
])('control: a response with %s is found invalid', (_what, head, sent) => {
  expect(faultsIn(readHead(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${sent}`))).toHaveLength(1)
})
