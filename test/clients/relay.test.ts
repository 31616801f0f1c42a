// Runs in: clients, first

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBusyProxy } from './support/busy-proxy.ts'
import { buy, collect, watchList } from './support/journey.ts'
import { compile, fetchFrom, runScript, startDemo } from './support/service.ts'

// Relay, as in a browser: with a publishable key, and documents that the service knows by their identifiers.

const manifest = fileURLToPath(new URL('relay/generated/documents.json', import.meta.url))
let service: Awaited<ReturnType<typeof startDemo>> | undefined

beforeAll(async () => {
  await runScript('relay', 'generate.sh')
  service = await startDemo({ TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_ONLY: 'true' })
})
afterAll(() => service?.stop())

const open = async (url = service?.url ?? '') => {
  if (!service) throw new Error('the service was not started')
  const { publishableKey: key } = service
  const built = './relay/dist/relay/client.js'
  const { connect } = (await import(built)) as typeof import('./relay/client.ts')
  return connect({ url, key, fetch: fetchFrom(service.url) })
}

test('compiles', () => compile('relay'))

test('buys a ticket of a service that executes only the documents of its manifest', async () => {
  const proxy = await openBusyProxy(service?.url ?? '')
  await buy(await open(proxy.url), { search: 'Łódź Late', eventId: 'evt_demo_6' }).finally(proxy.close)
  expect(proxy.refused()).toBeGreaterThan(5)
})

test('keeps events in its store by their identifiers', async () => {
  const shop = await open()
  await collect(shop.listEvents('Oud under the stars'))
  const kept = shop.environment.getStore().getSource().get('evt_demo_11')
  expect(kept).toMatchObject({ __typename: 'Event', id: 'evt_demo_11' })
})

test('shows the places of a watched list, as the stream and the answer to a checkout tell', async () => {
  await watchList(await open(), await open(), { search: 'Łódź Late', eventId: 'evt_demo_6' })
})

test('needs to be told of no type a page can read that its `id` is not its own', async () => {
  const { keylessTypesWithId } = await import('./support/keyless-types.ts')
  // An option has its own id, but nobody finds it by that.
  expect(keylessTypesWithId()).toEqual(['QuestionOption'])
})
