// Runs in: postgres

import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { corpus } from '../support/hostile/corpus.ts'
import { type HostileService, openHostileService } from '../support/hostile/hostile-service.ts'

// Time for which one request may block others (DECISIONS, limits), in milliseconds.
const maxBlockedMs = 100
// A retry excludes chance delays, such as a garbage collection.
const tries = 5

test('every request of the corpus fits into the limits of body and URL', () => {
  for (const { name, body = '', url } of corpus) {
    expect(Buffer.byteLength(body), name).toBeLessThanOrEqual(256 * 1024)
    expect(url.length, name).toBeLessThan(16_000)
  }
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
})

describe('with limits', () => {
  let service: HostileService
  beforeAll(async () => {
    service = await openHostileService('bounded')
  })
  afterAll(() => service.close())

  test.each(corpus.flatMap((request) => [false, true].map((hasKey) => ({ ...request, hasKey }))))(
    '$name blocks no other requests, with a key: $hasKey',
    async ({ hasKey, ...request }) => {
      let blockedMs = Number.POSITIVE_INFINITY
      for (let time = 0; time < tries && blockedMs > maxBlockedMs; time++) {
        const answer = await service.send(request, hasKey ? service.channel : {})
        if (!answer) continue
        blockedMs = Math.min(blockedMs, answer.longest)
        expect(answer.status).toBeLessThan(500)
        // A refusal must not be much longer than its request, nor long at all.
        expect(answer.text.length).toBeLessThan(300_000)
        if (answer.text.includes('"errors"')) expect(answer.text.length).toBeLessThan(40_000)
      }
      expect(blockedMs).toBeLessThanOrEqual(maxBlockedMs)
    },
  )

  test('introspection by tools succeeds with all options', async () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    })
    const headers = { 'content-type': 'application/json' }
    const asked = { name: 'introspection', method: 'POST', url: '/graphql', headers } as const
    const answer = await service.send({ ...asked, body: JSON.stringify({ query }) })
    expect(Object.keys(JSON.parse(answer?.text ?? ''))).toEqual(['data'])
  })
})
