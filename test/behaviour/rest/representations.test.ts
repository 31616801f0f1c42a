import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { aCatalogue, anEvent } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

// HTTP semantics of catalogue reads: ETag, encodings and Vary. The response cache is off.

const events = [anEvent(), anEvent(), anEvent()]
const catalogue = (name: string) =>
  aCatalogue({ events: events.map((event) => ({ ...event, name, description: 'Until late. '.repeat(50) })) })

const sale = sharedSale(catalogue('Noche'), { settings: { CORS_ORIGINS: 'https://shop.example' } })

const query =
  '{ events { nodes { id name description organization { name } ticketRates { id name prices { id name } } } } }'
const get = (url: string, headers: Record<string, string> = {}) =>
  sale.rest('GET', url, { headers: { accept: 'application/json', ...sale.channel, ...headers } })
const post = (headers: Record<string, string> = {}, document = query) =>
  sale.rest('POST', '/graphql', { headers: { ...sale.channel, ...headers }, body: { query: document } })
const inAddress = (document: string) => `/graphql?query=${encodeURIComponent(document)}`

const tagOf = (answer: { headers: Record<string, unknown> }) => String(answer.headers.etag)

test('a list that still holds is answered with the address of the page beside it', async () => {
  const page = '/events?offset=1'
  const whole = await get(page)
  expect(whole.headers.link).toContain('rel="prev"')
  const same = await get(page, { 'if-none-match': tagOf(whole) })
  expect([same.statusCode, same.headers.link]).toEqual([304, whole.headers.link])
})

describe.each([
  ['REST', '/events?populate=*'],
  ['GraphQL', inAddress(query)],
])('%s by GET', (_surface, url) => {
  test('has a strong ETag that changes only with the response', async () => {
    const [one, two] = [await get(url), await get(url)]
    expect(tagOf(one)).toMatch(/^"[\w-]{20,}"$/)
    expect(tagOf(two)).toBe(tagOf(one))
    await importCatalogue(sale.db, catalogue('Mañana'))
    expect(tagOf(await get(url))).not.toBe(tagOf(one))
    await importCatalogue(sale.db, catalogue('Noche'))
    expect(tagOf(await get(url))).toBe(tagOf(one))
  })

  test.each<[what: string, sent: (tag: string) => string, status: number]>([
    ['its ETag', (tag) => tag, 304],
    ['its ETag as a weak one', (tag) => `W/${tag}`, 304],
    ['its ETag among others', (tag) => `"other", W/"a,b" , ${tag},"x"`, 304],
    ['anything', () => '*', 304],
    ['another ETag', () => '"other"', 200],
    ['its ETag without quotes', (tag) => tag.slice(1, -1), 200],
    ['its ETag in another encoding', (tag) => tag.replace(/"$/, '-br"'), 200],
    ['nothing', () => '', 200],
  ])('revalidates If-None-Match of %s', async (_what, sent, status) => {
    const whole = await get(url)
    const answer = await get(url, { 'if-none-match': sent(tagOf(whole)) })
    expect([answer.statusCode, answer.body]).toEqual([status, status === 304 ? '' : whole.body])
    for (const name of ['etag', 'cache-control', 'vary', 'content-security-policy'])
      expect([name, answer.headers[name]]).toEqual([name, whole.headers[name]])
    expect(answer.headers['x-request-id']).not.toBe(whole.headers['x-request-id'])
  })

  test('is private, revalidated, and varies with credentials and encoding', async () => {
    const { headers } = await get(url)
    expect(headers['cache-control']).toBe('private, no-cache')
    for (const name of ['x-api-key', 'integration_id', 'secret', 'accept-encoding'])
      expect(String(headers.vary).split(', ')).toContain(name)
  })

  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br; q=0.1, gzip; q=0', 'br'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['gzip;q=0, br;q=0.000', undefined],
    ['*;q=0', undefined],
    ['deflate, zstd', undefined],
    ['', undefined],
  ])('answers Accept-Encoding %j in %s', async (accepted, coding) => {
    const plain = await get(url)
    const answer = await get(url, { 'accept-encoding': accepted })
    expect(answer.headers['content-encoding']).toBe(coding)
    const decode = { gzip: gunzipSync, br: brotliDecompressSync }[coding ?? ''] ?? ((bytes: Buffer) => bytes)
    expect(decode(answer.rawPayload).toString()).toBe(plain.body)
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
    expect(tagOf(answer)).toBe(coding ? tagOf(plain).replace(/"$/, `-${coding}"`) : tagOf(plain))
    const again = await get(url, { 'accept-encoding': accepted, 'if-none-match': tagOf(answer) })
    expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0])
    expect(again.headers).not.toHaveProperty('content-encoding')
  })
})

test('a shop in a browser may read the ETag, and the response varies with the origin', async () => {
  const { headers } = await get('/events', { origin: 'https://shop.example' })
  expect(headers['access-control-expose-headers']).toContain('etag')
  expect(String(headers.vary).toLowerCase().split(', ')).toEqual(
    expect.arrayContaining(['origin', 'x-api-key']),
  )
})

test('HEAD has the headers of GET', async () => {
  const { headers } = await get('/events')
  const answer = await sale.rest('HEAD', '/events', { headers: sale.channel })
  expect([answer.statusCode, answer.body]).toEqual([200, ''])
  for (const name of ['etag', 'content-length', 'content-type', 'cache-control', 'vary'])
    expect([name, answer.headers[name]]).toEqual([name, headers[name]])
  const same = { ...sale.channel, 'if-none-match': tagOf(answer) }
  const held = await sale.rest('HEAD', '/events', { headers: same })
  expect([held.statusCode, held.body]).toEqual([304, ''])
  // The length would be that of the representation, which is not empty (RFC 9110, 8.6).
  for (const name of ['content-length', 'content-type', 'transfer-encoding'])
    expect(held.headers).not.toHaveProperty(name)
})

test('GraphQL by POST is compressed and has no ETag', async () => {
  const plain = await post()
  const { headers, rawPayload } = await post({ 'accept-encoding': 'br' })
  expect(brotliDecompressSync(rawPayload).toString()).toBe(plain.body)
  expect(headers).not.toHaveProperty('etag')
  expect((await post({ 'if-none-match': '*' })).statusCode).toBe(200)
})

test('GraphQL answers in the media type accepted', async () => {
  const types = ['application/json', 'application/graphql-response+json']
  for (const accept of types) {
    const answer = await get(inAddress(query), { accept })
    expect(answer.headers['content-type']).toBe(`${accept}; charset=utf-8`)
    expect(String(answer.headers.vary).split(', ')).toContain('accept')
  }
})

test('a small response is not compressed', async () => {
  for (const answer of [
    await get('/events?search=nobody', { 'accept-encoding': 'br' }),
    await post({ 'accept-encoding': 'br' }, '{ __typename }'),
  ]) {
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.headers.vary).toContain('accept-encoding')
  }
})

test('errors and responses beyond the catalogue have neither ETag nor encoding', async () => {
  const long = Array.from({ length: 30 }, (_, index) => `a${index}: events(first: 0) { totalCount }`).join(
    ' ',
  )
  const answers = [
    await get('/events?limit=0', { 'accept-encoding': 'br' }),
    await get(inAddress(`{ ${long} }`), { 'accept-encoding': 'br' }),
    await get(inAddress('{ payment(id: "x") { id } }'), { 'accept-encoding': 'br' }),
    await get(inAddress('{ __schema { types { name description } } }'), { 'accept-encoding': 'br' }),
    await get('/events', { 'x-api-key': 'none', 'accept-encoding': 'br', 'if-none-match': '*' }),
    await sale.rest('GET', inAddress('{ __typename }'), { headers: { accept: 'application/json' } }),
  ]
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 200, 200, 200, 401, 200])
  for (const { headers, body } of answers) {
    expect(() => JSON.parse(body)).not.toThrow()
    for (const name of ['etag', 'content-encoding']) expect(headers).not.toHaveProperty(name)
    expect(headers['cache-control']).toBe('private, no-store')
  }
})
