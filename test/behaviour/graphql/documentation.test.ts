import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { shared, startGateway } from '../../support/harness.ts'

const gateway = shared(startGateway)

const get = (url: string) => gateway.rest('GET', url)

test('OpenAPI document has exactly the documented paths', async () => {
  const answer = await get('/openapi.json')
  expect(answer.headers['content-type']).toContain('application/json')
  const document = answer.json()
  expect(document.openapi).toBe('3.1.0')
  expect(
    Object.entries<object>(document.paths).map(([path, methods]) => [path, ...Object.keys(methods)]),
  ).toEqual([
    ['/events', 'get'],
    ['/events/{eventId}', 'get'],
    ['/payments/{paymentId}', 'get'],
    ['/tickets/checkout', 'post'],
    ['/tickets', 'get'],
    ['/integrations/tickets', 'get'],
    ['/integrations/tickets/{ticketId}', 'get'],
    ['/integrations/events/{eventId}/scan-list', 'get'],
  ])
  expect(Object.keys(document.components.securitySchemes)).toEqual([
    'channelKey',
    'integrationKey',
    'integrationId',
    'secret',
  ])
})

test('OpenAPI document has the paths with their base paths', async () => {
  const moved = await startGateway({
    settings: { CHANNELS_BASE_PATH: '/channels', INTEGRATIONS_BASE_PATH: '/partners/v2' },
  })
  try {
    const document = (await moved.rest('GET', '/openapi.json')).json()
    expect(Object.keys(document.paths)).toEqual([
      '/channels/events',
      '/channels/events/{eventId}',
      '/channels/payments/{paymentId}',
      '/channels/tickets/checkout',
      '/channels/tickets',
      '/partners/v2/integrations/tickets',
      '/partners/v2/integrations/tickets/{ticketId}',
      '/partners/v2/integrations/events/{eventId}/scan-list',
    ])
  } finally {
    await moved.close()
  }
})

test('/docs and its files are compressed, and the files kept for good by the version in their address', async () => {
  const ask = (url: string, more = {}) =>
    gateway.app.inject({ url, headers: { 'accept-encoding': 'br', ...more } })
  const page = await ask('/docs')
  for (const { headers } of [page, await ask('/docs/json')])
    expect(headers['cache-control']).toBe('private, no-cache')
  const { body } = await gateway.app.inject('/docs')
  const addresses = [...body.matchAll(/"(\/docs\/static\/[^"]+)"/g)].map(([, url = '']) => url)
  expect(addresses.length).toBeGreaterThan(5)
  let bytes = page.rawPayload.length
  for (const url of addresses) {
    const file = await ask(url)
    expect([url, file.statusCode, file.headers['cache-control']]).toEqual([
      url,
      200,
      'public, max-age=31536000, immutable',
    ])
    bytes += file.rawPayload.length
    const [path = ''] = url.split('?')
    for (const old of [path, `${path}?v=old`])
      expect((await ask(old)).headers['cache-control']).toBe('private, no-cache')
    const again = await ask(url, { 'if-none-match': String(file.headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  }
  // 2.1 MB uncompressed.
  expect(bytes).toBeLessThan(700_000)
})

test('/docs loads only its own files', async () => {
  const page = await get('/docs')
  expect(page.statusCode).toBe(200)
  expect(page.headers['content-type']).toContain('text/html')
  expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
  expect(page.headers['content-security-policy']).not.toContain('upgrade-insecure-requests')
  const files = [...page.body.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file]) => file ?? '')
  expect(files.length).toBeGreaterThan(4)
  for (const file of files) {
    expect(file).toMatch(/^\/docs\/static\//)
    expect((await get(file)).statusCode).toBe(200)
  }
  // The page asks the address that it was loaded from, which may be another name of the service.
  expect((await get('/docs/json')).json()).toEqual({
    ...(await get('/openapi.json')).json(),
    servers: [{ url: '/', description: 'This service.' }],
  })
})

test('/ links to all documentation', async () => {
  const page = await get('/')
  expect(page.statusCode).toBe(200)
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  const links = [...page.body.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link ?? '')
  expect(links).toEqual(['/graphql', '/docs', '/schema.graphql', '/openapi.json'])
  for (const link of links)
    expect((await gateway.rest('GET', link, { headers: { accept: 'text/html' } })).statusCode).toBe(200)
})

test('/schema.graphql is the committed schema', async () => {
  const answer = await get('/schema.graphql')
  expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(answer.body).toBe(await readFile(new URL('../../../schema.graphql', import.meta.url), 'utf8'))
})
