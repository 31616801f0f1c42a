import { afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { openBusyProxy } from './support/busy-proxy.ts'
import { buy, collect, watchList } from './support/journey.ts'
import { compile, fetchFrom, runScript } from './support/service.ts'

// Apollo Client, as in a browser: with a publishable key and persisted queries.

const { url, publishableKey: key } = inject('service')
const open = async (at = url) =>
  (await import('./apollo/client.ts')).connect({ url: at, key, fetch: fetchFrom(url) })

beforeAll(() => runScript('apollo', 'generate.sh'))
afterEach(() => void vi.restoreAllMocks())

test('compiles', () => compile('apollo'))

test('buys a ticket of a service that is busy, without a warning of the cache', async () => {
  const proxy = await openBusyProxy(url)
  const warnings = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')]
  await buy(await open(proxy.url), { search: 'Rooftop Soul', eventId: 'evt_demo_4' }).finally(proxy.close)
  expect(proxy.refused()).toBeGreaterThan(5)
  for (const warning of warnings) expect(warning).not.toHaveBeenCalled()
})

test('keeps what has an identifier by it, and all else in the object around it', async () => {
  const shop = await open()
  const [event] = await collect(shop.listEvents('Oud under the stars'))
  expect(event?.id).toBe('evt_demo_11')
  const kept = shop.client.cache.extract() as Record<string, Record<string, unknown>>
  expect(kept['Event:evt_demo_11']).toMatchObject({ name: event?.name })
  expect(kept['TicketRate:rate_demo_11_1']).toMatchObject({ availability: { __typename: 'Availability' } })
  expect(Object.keys(kept).map((id) => id.split(':')[0])).not.toContain('Availability')
})

test('shows the places of a watched list, as the stream and the answer to a checkout tell', async () => {
  await watchList(await open(), await open(), { search: 'Rooftop Soul', eventId: 'evt_demo_4' })
})

test('has a key for every type of the schema', async () => {
  const { keylessTypes } = await import('./support/keyless-types.ts')
  const { keyless } = await import('./apollo/cache.ts')
  expect([...keyless].sort()).toEqual(keylessTypes())
})

test('joins pages of a list, and reads an event that it brought from the cache', async () => {
  const { client } = await open()
  const { EventsDocument } = await import('./apollo/generated/graphql.ts')
  const { data: first } = await client.query({ query: EventsDocument })
  const after = first?.events?.pageInfo.endCursor
  await client.query({ query: EventsDocument, variables: { after }, fetchPolicy: 'network-only' })
  const joined = client.readQuery({ query: EventsDocument })?.events?.edges
  expect(new Set(joined?.map(({ node }) => node.id)).size).toBe(40)

  const { gql } = await import('@apollo/client')
  const query = gql('query Event($id: ID!) { event(by: { id: $id }) { id name } }')
  const { data } = await client.query({ query, variables: { id: 'evt_demo_4' }, fetchPolicy: 'cache-only' })
  expect(data).toMatchObject({ event: { id: 'evt_demo_4', name: expect.any(String) } })
})
