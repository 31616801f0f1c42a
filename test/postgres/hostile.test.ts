import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { corpus } from '../support/hostile/corpus.ts'
import { type HostileService, openHostileService } from '../support/hostile/hostile-service.ts'

// How long one request may hold up those beside it (DECISIONS 10), in milliseconds.
const maxHeldUp = 100
// Whatever comes between, such as a collection of garbage, does not come each time.
const tries = 5

test('each request of the corpus is one that is read', () => {
  for (const { name, body = '', url } of corpus) {
    expect(Buffer.byteLength(body), name).toBeLessThanOrEqual(256 * 1024)
    expect(url.length, name).toBeLessThan(16_000)
  }
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
})

describe('with the bounds', () => {
  let service: HostileService
  beforeAll(async () => {
    service = await openHostileService('bounded')
  })
  afterAll(() => service.close())

  test.each(corpus.flatMap((request) => [false, true].map((hasKey) => ({ ...request, hasKey }))))(
    '$name, with a key: $hasKey',
    async ({ hasKey, ...request }) => {
      let heldUp = Number.POSITIVE_INFINITY
      for (let time = 0; time < tries && heldUp > maxHeldUp; time++) {
        const answer = await service.send(request, hasKey ? service.channel : {})
        if (!answer) continue
        heldUp = Math.min(heldUp, answer.longest)
        expect(answer.status).toBeLessThan(500)
        // What is refused is not many times as long as what was sent, nor very long at all.
        expect(answer.text.length).toBeLessThan(300_000)
        if (answer.text.includes('"errors"')) expect(answer.text.length).toBeLessThan(40_000)
      }
      expect(heldUp).toBeLessThanOrEqual(maxHeldUp)
    },
  )

  test('what tools ask of the schema is answered, with all of their options', async () => {
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

// The same corpus is sent to a service without them by `npm run test:long`.
describe('without the bounds', () => {
  let service: HostileService
  beforeAll(async () => {
    service = await openHostileService('unbounded')
  })
  afterAll(() => service.close())

  test.each([
    'GraphQL: unknown fields by the ten thousand',
    'GraphQL: all of the schema in 30 ways',
    'REST: entries without anything',
  ])('%s holds up the others: the measure can tell', async (wanted) => {
    const request = corpus.find(({ name }) => name === wanted)
    const answer = request && (await service.send(request, service.channel, 5_000))
    expect(answer?.longest ?? Number.POSITIVE_INFINITY).toBeGreaterThan(maxHeldUp)
  })
})
