import { beforeAll, expect, inject, test } from 'vitest'
import { openBusyProxy } from './support/busy-proxy.ts'
import { buy } from './support/journey.ts'
import { compile, runScript } from './support/service.ts'

// gql.tada: documents in the source, typed by TypeScript alone, sent by fetch.

const { url, key } = inject('service')

beforeAll(() => runScript('gql-tada', 'generate.sh'))

test('compiles', () => compile('gql-tada'))

test('buys a ticket of a service that is busy', async () => {
  const { connect } = await import('./gql-tada/client.ts')
  const proxy = await openBusyProxy(url)
  await buy(connect({ url: proxy.url, key }), { search: 'Brass on the Lock', eventId: 'evt_demo_3' }).finally(
    proxy.close,
  )
  expect(proxy.refused()).toBeGreaterThan(5)
})
