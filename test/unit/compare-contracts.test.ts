import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { breakingSchemaChanges, unintended } from '../support/contract/compare-contracts.ts'
import { breakingOpenapiChanges, type Openapi } from '../support/contract/compare-openapi.ts'

// Each kind of change that breaks a client is found, and those that do not are let through.

const shop = (change: (parts: ReturnType<typeof partsOf>) => void = () => {}): Openapi => {
  const parts = partsOf()
  change(parts)
  const { query, body, answer, components, ...operation } = parts
  return {
    components,
    paths: {
      '/things': {
        post: {
          parameters: [{ in: 'query', name: 'kind', ...query }],
          requestBody: { content: { 'application/json': { schema: body } } },
          responses: { 200: { content: { 'application/json': { schema: answer } } } },
          ...operation,
        },
      },
    },
  }
}
type Schema = Record<string, unknown>
const partsOf = () => ({
  query: { required: false, schema: { enum: ['a', 'b'] } as Schema },
  body: {
    type: 'object',
    properties: { name: { type: 'string' }, size: { type: ['integer', 'null'] } } as Record<string, Schema>,
    required: ['name'],
  },
  answer: { $ref: '#/components/schemas/Answer' },
  components: {
    schemas: {
      Answer: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          list: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'null' }] } as Schema },
        } as Record<string, Schema>,
        required: ['id', 'list'],
      },
    },
  },
})

test.each<[string, Parameters<typeof shop>[0]]>([
  ['POST /things query kind refuses "b"', ({ query }) => (query.schema = { enum: ['a'] })],
  ['POST /things query kind became required', ({ query }) => (query.required = true)],
  ['POST /things query kind refuses string', ({ query }) => (query.schema = { type: 'integer' })],
  ['POST /things body.size was removed', ({ body }) => delete body.properties.size],
  ['POST /things body.size became required', ({ body }) => body.required.push('size')],
  ['POST /things body.size refuses null', ({ body }) => (body.properties.size = { type: 'integer' })],
  [
    'POST /things body.more became required',
    ({ body }) => {
      body.properties.more = { type: 'string' }
      body.required.push('more')
    },
  ],
  ['POST /things 200.id was removed', ({ components }) => delete components.schemas.Answer.properties.id],
  ['POST /things 200.id may be absent', ({ components }) => (components.schemas.Answer.required = ['list'])],
  [
    'POST /things 200.id may be null',
    ({ components }) => (components.schemas.Answer.properties.id = { type: ['string', 'null'] }),
  ],
  [
    'POST /things 200.list[] may be string',
    ({ components }) =>
      (components.schemas.Answer.properties.list = {
        type: 'array',
        items: { type: ['number', 'null', 'string'] },
      }),
  ],
])('a client of REST breaks where %s', (change, make) => {
  expect(breakingOpenapiChanges(shop(), shop(make))).toContain(change)
})

test('a client of REST breaks where a path, a method, an answer or a parameter is gone', () => {
  const none = { ...shop(), paths: {} }
  expect(breakingOpenapiChanges(shop(), none)).toEqual(['POST /things was removed'])
  const bare = { ...shop(), paths: { '/things': { post: { responses: {} } } } }
  expect(breakingOpenapiChanges(shop(), bare)).toEqual([
    'POST /things query kind was removed',
    'POST /things 200 was removed',
  ])
})

test.each<[string, Parameters<typeof shop>[0]]>([
  ['nothing changed', () => {}],
  ['a parameter takes more', ({ query }) => (query.schema = { enum: ['a', 'b', 'c'] })],
  ['a body takes more', ({ body }) => (body.properties.more = { type: 'string' })],
  ['a field became optional', ({ body }) => (body.required = [])],
  [
    'an answer has more',
    ({ components }) => (components.schemas.Answer.properties.more = { type: 'string' }),
  ],
  [
    'a number is always whole',
    ({ components }) =>
      (components.schemas.Answer.properties.list = { type: 'array', items: { type: 'integer' } }),
  ],
])('no client of REST breaks where %s', (_what, make) => {
  expect(breakingOpenapiChanges(shop(), shop(make))).toEqual([])
})

test('a client of GraphQL breaks where a field is gone, and not where one is added', () => {
  const before = 'type Query { a: Int b(first: Int): Int }'
  expect(
    breakingSchemaChanges(before, buildSchema('type Query { a: Int b(first: Int!): Int }')),
  ).toHaveLength(1)
  expect(breakingSchemaChanges(before, buildSchema('type Query { a: Int }'))).toEqual([
    'Query.b was removed.',
  ])
  expect(
    breakingSchemaChanges(before, buildSchema('type Query { a: Int b(first: Int): Int c: Int }')),
  ).toEqual([])
})

test('a breaking change passes where it is named with a reason, and no other', () => {
  const intended = [{ change: 'Query.b was removed.', reason: 'Nobody used it.' }]
  expect(unintended(['Query.b was removed.'], intended)).toEqual([])
  expect(unintended(['Query.a was removed.', 'Query.b was removed.'], intended)).toEqual([
    'breaks clients: Query.a was removed.',
  ])
  expect(unintended([], intended)).toEqual(['is intended, but was not made: Query.b was removed.'])
  expect(unintended(['x'], [{ change: 'x', reason: ' ' }])).toEqual(['has no reason: x'])
})
