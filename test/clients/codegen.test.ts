import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { buy } from './support/journey.ts'
import { compile, runScript, startDemo } from './support/service.ts'

// GraphQL Code Generator: documents of a shop.graphql as types and texts, sent by fetch.

const manifest = fileURLToPath(new URL('codegen/generated/persisted-documents.json', import.meta.url))
const { url, key } = inject('service')

beforeAll(() => runScript('codegen', 'generate.sh'))

test('compiles', () => compile('codegen'))

test('buys a ticket', async () => {
  const { connect } = await import('./codegen/client.ts')
  await buy(connect({ url, key }), { search: 'Kraftfeld', eventId: 'evt_demo_7' })
})

let strict: Awaited<ReturnType<typeof startDemo>> | undefined
afterAll(() => strict?.stop())

test('buys a ticket of a service that executes only the documents of its manifest', async () => {
  strict = await startDemo({ TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_ONLY: 'true' })
  const { connect } = await import('./codegen/client.ts')
  const event = { search: 'Kraftfeld', eventId: 'evt_demo_7' }
  await buy(connect({ ...strict, trusted: true }), event)
  const listing = connect(strict).listEvents('Kraftfeld')
  await expect(listing).rejects.toMatchObject({ cause: [{ extensions: { code: 'UNTRUSTED_DOCUMENT' } }] })
})
