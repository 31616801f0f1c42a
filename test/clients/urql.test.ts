import { afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { openBusyProxy } from './support/busy-proxy.ts'
import { buy, watchList } from './support/journey.ts'
import { compile, fetchFrom, runScript } from './support/service.ts'

// urql with graphcache, as in a browser: with a publishable key.

const { url, publishableKey: key } = inject('service')
const open = async (at = url) =>
  (await import('./urql/client.ts')).connect({ url: at, key, fetch: fetchFrom(url) })

beforeAll(() => runScript('urql', 'generate.sh'))
afterEach(() => void vi.restoreAllMocks())

test('compiles', () => compile('urql'))

test('buys a ticket of a service that is busy, without a warning of the cache', async () => {
  const proxy = await openBusyProxy(url)
  const warnings = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')]
  await buy(await open(proxy.url), { search: 'Les Éclats', eventId: 'evt_demo_5' }).finally(proxy.close)
  expect(proxy.refused()).toBeGreaterThan(5)
  for (const warning of warnings) expect(warning).not.toHaveBeenCalled()
})

test('shows the places of a watched list, as the stream and the answer to a checkout tell', async () => {
  await watchList(await open(), await open(), { search: 'Les Éclats', eventId: 'evt_demo_5' })
})

test('has a key for every type of the schema', async () => {
  const { keylessTypes } = await import('./support/keyless-types.ts')
  const { keyless } = await import('./urql/cache.ts')
  expect([...keyless].sort()).toEqual(keylessTypes())
})

test('joins pages of a list, and reads an event that it brought from the cache', async () => {
  const { client } = await open()
  const { EventsDocument } = await import('./urql/generated/graphql.ts')
  const { data: first } = await client.query(EventsDocument, {}).toPromise()
  const after = first?.events?.pageInfo.endCursor
  await client.query(EventsDocument, { after }).toPromise()
  const { data: joined } = await client
    .query(EventsDocument, { after }, { requestPolicy: 'cache-only' })
    .toPromise()
  expect(new Set(joined?.events?.nodes.map(({ id }) => id)).size).toBe(40)

  const { gql } = await import('@urql/core')
  const query = gql('query Event($id: ID!) { event(by: { id: $id }) { id name } }')
  const { data } = await client
    .query(query, { id: 'evt_demo_4' }, { requestPolicy: 'cache-only' })
    .toPromise()
  expect(data).toMatchObject({ event: { id: 'evt_demo_4', name: expect.any(String) } })
})
