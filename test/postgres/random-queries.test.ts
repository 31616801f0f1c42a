import fc from 'fast-check'
import { execute, parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import type { Services } from '../../src/domain/caller/context.ts'
import { Credentials } from '../../src/domain/caller/credentials.ts'
import { createContext } from '../../src/engine/request/context.ts'
import type { Caller } from '../support/authorization/callers.ts'
import { openWorld, type World } from '../support/authorization/world.ts'
import { drawOperation, type GraphqlRequest } from '../support/fuzz/graphql-operation.ts'
import { poolFor } from '../support/fuzz/requests.ts'
import { fuzzRuns, requireModest, seed } from '../support/fuzz/seed.ts'
import { testServices } from '../support/test-services.ts'

// The compiler against its oracle: generated queries are answered byte for byte as graphql-js answers them.

let world: World
let services: Services
beforeAll(async () => {
  world = await openWorld()
  const { sale, callers, things } = world
  const payment = things.payment.find(({ principal }) => principal === callers.shop.principal)
  const { data } = await sale.graphql<{ payment: { pageUrl: string } }>(
    'query ($id: ID!) { payment(id: $id) { pageUrl } }',
    { id: payment?.id },
    callers.shop.headers,
  )
  const origin = new URL(data?.payment.pageUrl ?? '').origin
  services = { ...testServices(sale.db), publicUrl: () => origin }
})
afterAll(() => world?.sale.close())

/** Answers as graphql-js does by itself; null where the gateway refuses the request or tells of an error. */
async function expectedBody({ query, variables }: GraphqlRequest, caller: Caller): Promise<string | null> {
  const document = parse(query)
  if (validate(schema, document).length > 0) return null
  const contextValue = await createContext(services, new Credentials(caller.headers))
  const { data, errors } = await execute({ schema, document, variableValues: variables, contextValue })
  return errors ? null : JSON.stringify({ data })
}

async function bodyOf(request: GraphqlRequest, { headers }: Caller): Promise<string> {
  const answer = await world.sale.app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(request),
  })
  requireModest(JSON.stringify(request), answer.body)
  return answer.body
}

/** Hides the start cursors of empty lists of scans: each is the time of its request. */
const withoutTimes = (body: string): string =>
  body.replace(/"[\w-]{19}"/g, (text) =>
    /^\d{13} $/.test(Buffer.from(text, 'base64url').toString()) ? '"now"' : text,
  )

let compared = 0

async function compare(request: GraphqlRequest, caller: Caller): Promise<void> {
  const first = await bodyOf(request, caller)
  if (!first.startsWith('{"data":') || first.includes('"errors":')) return
  const expected = await expectedBody(request, caller)
  if (expected === null) return
  expect(withoutTimes(first), JSON.stringify(request)).toBe(withoutTimes(expected))
  compared++
}

describe(`compiled answers with FUZZ_SEED=${seed}`, () => {
  test.each(Object.keys(schema.getQueryType()?.getFields() ?? {}))(
    'a generated query of %s is answered as graphql-js answers it',
    async (name) => {
      const { callers } = world
      const from = { schema, pool: poolFor(world) }
      const property = fc.asyncProperty(
        fc.constantFrom(callers.shop, callers.door, callers.foreign),
        fc.gen(),
        (caller, draw) => compare(drawOperation(draw, from, ['query', name]), caller),
      )
      await fc.assert(property, fuzzRuns(50, 4))
    },
  )

  test('control: enough answers were compared', () => {
    expect(compared).toBeGreaterThan(100)
  })

  test('control: an answer that differs by a byte is found', async () => {
    const request = { query: '{ events(first: 1) { nodes { id } } }', variables: {} }
    const { shop } = world.callers
    expect(await bodyOf(request, shop)).toBe(await expectedBody(request, shop))
    expect(await bodyOf(request, shop)).not.toBe(await expectedBody(request, world.callers.foreign))
  })
})
