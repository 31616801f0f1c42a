import { beforeAll, inject, test } from 'vitest'
import { buy } from './support/journey.ts'
import { compile, runScript } from './support/service.ts'

// gql.tada: documents in the source, typed by TypeScript alone, sent by fetch.

const { url, key } = inject('service')

beforeAll(() => runScript('gql-tada', 'generate.sh'))

test('compiles', () => compile('gql-tada'))

test('buys a ticket', async () => {
  const { connect } = await import('./gql-tada/client.ts')
  await buy(connect({ url, key }), { search: 'Brass on the Lock', eventId: 'evt_demo_3' })
})
