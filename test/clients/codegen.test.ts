import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openBusyProxy } from './support/busy-proxy.ts'
import { buy, collect } from './support/journey.ts'
import { compile, runScript, startDemo } from './support/service.ts'

// GraphQL Code Generator: documents of a shop.graphql as types and texts, sent by fetch.

const manifest = fileURLToPath(new URL('codegen/generated/persisted-documents.json', import.meta.url))
const { url, key } = inject('service')

beforeAll(() => runScript('codegen', 'generate.sh'))

test('compiles', () => compile('codegen'))

test('buys a ticket of a service that is busy', async () => {
  const { connect } = await import('./codegen/client.ts')
  const proxy = await openBusyProxy(url)
  await buy(connect({ url: proxy.url, key }), { search: 'Kraftfeld', eventId: 'evt_demo_7' }).finally(
    proxy.close,
  )
  expect(proxy.refused()).toBeGreaterThan(5)
})

let strict: Awaited<ReturnType<typeof startDemo>> | undefined
afterAll(() => strict?.stop())

test('buys a ticket of a service that executes only the documents of its manifest', async () => {
  strict = await startDemo({ TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_ONLY: 'true' })
  const { connect } = await import('./codegen/client.ts')
  const event = { search: 'Kraftfeld', eventId: 'evt_demo_7' }
  await buy(connect({ ...strict, trusted: true }), event)
  const listing = collect(connect(strict).listEvents('Kraftfeld'))
  await expect(listing).rejects.toMatchObject({ cause: [{ extensions: { code: 'UNTRUSTED_DOCUMENT' } }] })
})
