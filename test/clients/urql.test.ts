import { afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { buy } from './support/journey.ts'
import { compile, fetchFrom, runScript } from './support/service.ts'

// urql with graphcache, as in a browser: with a publishable key.

const { url, publishableKey: key } = inject('service')

beforeAll(() => runScript('urql', 'generate.sh'))
afterEach(() => void vi.restoreAllMocks())

test('compiles', () => compile('urql'))

test('buys a ticket, without a warning of the cache', async () => {
  const warnings = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')]
  const { connect } = await import('./urql/client.ts')
  const shop = connect({ url, key, fetch: fetchFrom(url) })
  await buy(shop, { search: 'Les Éclats', eventId: 'evt_demo_5' })
  for (const warning of warnings) expect(warning).not.toHaveBeenCalled()
})

test('has a key for every type of the schema', async () => {
  const { keylessTypes } = await import('./support/keyless-types.ts')
  const { keyless } = await import('./urql/cache.ts')
  expect([...keyless].sort()).toEqual(keylessTypes())
})
