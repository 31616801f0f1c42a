import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import type { Caller } from '../support/authorization/callers.ts'
import { openWorld, type World } from '../support/authorization/world.ts'
import { expectSafe, findLogLeaks } from '../support/fuzz/answer-checks.ts'
import { findAnswerMistakes } from '../support/fuzz/graphql-answer.ts'
import { drawOperation, type GraphqlRequest } from '../support/fuzz/graphql-operation.ts'
import { credentials, poolFor } from '../support/fuzz/requests.ts'
import { fuzzRuns, seed } from '../support/fuzz/seed.ts'
import { anything, json, text } from '../support/fuzz/values.ts'
import { brokenInvariants } from '../support/invariants.ts'

// Random operations, valid and invalid.

const lines: string[] = []
let world: World
beforeAll(async () => {
  world = await openWorld({ settings: { LOG_LEVEL: 'trace' }, onLog: (line) => lines.push(line) })
})
afterAll(() => world?.sale.close())

// Mutations that were sent: their texts are shown again by lists.
const stored: string[] = []

type Credentials = { caller: Caller; headers: Record<string, string> }

async function ask({ caller, headers }: Credentials, body: unknown, accept = 'application/json') {
  const payload = JSON.stringify(body)
  const answer = await world.sale.app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { accept, 'content-type': 'application/json', ...headers },
    payload,
  })
  if (payload.includes('mutation')) stored.push(payload)
  expectSafe(answer, caller, world, payload, stored)
  return answer
}

const answered = new Set<string>()

async function askValid(sender: Credentials, request: GraphqlRequest) {
  const answer = await ask(sender, request)
  const body = answer.json<{ data?: Record<string, unknown> | null }>()
  const wrong = findAnswerMistakes(schema, request, body)
  expect(wrong, `${JSON.stringify(request)}\n${answer.body.slice(0, 1000)}`).toEqual([])
  for (const [, key = '', name = ''] of request.query.matchAll(/\b(r\d+): (\w+)/g))
    if (body.data?.[key]) answered.add(name)
}

const fieldsOf = (kind: 'query' | 'mutation', type = schema.getQueryType()) =>
  Object.keys(type?.getFields() ?? {}).map((name): ['query' | 'mutation', string] => [kind, name])
const roots = [...fieldsOf('query'), ...fieldsOf('mutation', schema.getMutationType())]

describe(`GraphQL with FUZZ_SEED=${seed}`, () => {
  test.each(roots)('any %s of %s gets a response that matches its operation', async (...root) => {
    const from = { schema, pool: poolFor(world) }
    const property = fc.asyncProperty(credentials(world), fc.gen(), (sender, draw) =>
      askValid(sender, drawOperation(draw, from, root)),
    )
    await fc.assert(property, fuzzRuns(35, 6))
  })

  test('most root fields returned data at least once', () => {
    expect(answered.size).toBeGreaterThan(roots.length / 2)
  })

  const tokens =
    '{ } ( ) events nodes id ... on Event fragment query mutation $a : "x" """ @skip @include ! [ ] 1e400 \ud83c \0 __schema'
  const document = fc.oneof(
    text,
    fc.array(fc.constantFrom(...tokens.split(' ')), { maxLength: 20 }).map((tokens) => tokens.join(' ')),
  )
  const body = fc.oneof(
    json,
    document.map((query) => ({ query })),
    fc
      .tuple(fc.constantFrom('query', 'variables', 'operationName', 'extensions', 'x'), anything)
      .map(([name, value]) => ({ query: '{ __typename }', [name]: value })),
  )
  const accepts = [
    'application/json',
    'application/graphql-response+json',
    '*/*',
    'multipart/mixed',
    'image/png',
    '',
  ]

  test('random documents, bodies and URLs never cause a server error', async () => {
    const property = fc.asyncProperty(
      credentials(world),
      body,
      fc.constantFrom(...accepts),
      async (sender, body, accept) => {
        await ask(sender, body, accept)
        const parameters = Object.entries(Object(body) as object)
          .filter(([name, value]) => name.isWellFormed() && String(JSON.stringify(value)).isWellFormed())
          .map(([name, value]) => [name, typeof value === 'string' ? value : String(JSON.stringify(value))])
        const wellFormed = parameters.filter(([, value]) => value?.isWellFormed())
        const url = `/graphql?${new URLSearchParams(wellFormed as [string, string][])}`
        const answer = await world.sale.app.inject({
          method: 'GET',
          url,
          headers: { accept, ...sender.headers },
        })
        expectSafe(answer, sender.caller, world, JSON.stringify(body) + url)
      },
    )
    await fc.assert(property, fuzzRuns(200, 10))
  })

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('variables of %s nested thousands deep are refused', async (_what, open, close) => {
    const { shop } = world.callers
    const query = 'query ($search: String) { events(filter: { search: $search }) { totalCount } }'
    for (const depth of [5_000, 20_000]) {
      const nested = `${open.repeat(depth)}1${close.repeat(depth)}`
      const payload = `{"query":${JSON.stringify(query)},"variables":{"search":${nested}}}`
      const headers = { accept: 'application/json', 'content-type': 'application/json', ...shop.headers }
      const answer = await world.sale.app.inject({ method: 'POST', url: '/graphql', headers, payload })
      expectSafe(answer, shop, world, payload)
      expect(answer.json().errors).not.toHaveLength(0)
    }
  })

  test('random operations break no invariant and log no personal data', async () => {
    const wrong = await brokenInvariants(world.sale.db)
    // Operations also delete webhooks, whose changes are then never delivered.
    expect(wrong.filter((invariant) => !invariant.startsWith('a change is neither delivered'))).toEqual([])
    expect(lines.length).toBeGreaterThan(100)
    expect(findLogLeaks(lines, world)).toEqual([])
  })
})

describe('control: a response that does not match its operation is found', () => {
  const request = {
    query:
      'query ($c: Boolean!) { r1: event(by: { id: "x" }) { __typename id minimumAge @skip(if: $c) startDate location { __typename } } }',
    variables: { c: true },
  }
  const event = { __typename: 'Event', id: 'evt_1', startDate: '2026-01-01T00:00:00.000Z', location: null }
  test.each<[what: string, event: object | null, wrong: RegExp | null]>([
    ['a matching response', event, null],
    ['a null root field', null, null],
    ['a skipped field', { ...event, minimumAge: 18 }, /minimumAge was not asked for/],
    ['a missing field', { ...event, id: undefined }, /id is no ID/],
    ['null in a non-null field', { ...event, startDate: null }, /startDate is null/],
    ['another timestamp format', { ...event, startDate: '2026-01-01' }, /startDate is no DateTime/],
    ['another type', { ...event, __typename: 'Ticket' }, /__typename is no Event/],
    ['an object without its fields', { ...event, location: [] }, /location is no object/],
  ])('%s', (_what, r1, wrong) => {
    const mistakes = findAnswerMistakes(schema, request, { data: { r1 } })
    expect(mistakes).toEqual(wrong === null ? [] : [expect.stringMatching(wrong)])
  })

  test('an undocumented error', () => {
    expect(findAnswerMistakes(schema, request, { data: null })).toEqual(['neither data nor an error'])
    const masked = { message: 'x', extensions: { code: 'INTERNAL', request_id: 'x' } }
    expect(findAnswerMistakes(schema, request, { errors: [masked] })).toEqual(['an error INTERNAL'])
  })
})
