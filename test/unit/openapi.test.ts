import fastify from 'fastify'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { restContract } from '../../src/app/rest-contract.ts'
import { readCredentials } from '../../src/domain/caller/credentials.ts'
import { type ExampleValues, exampleIds } from '../../src/domain/contract/ids.ts'
import { addDocumentation } from '../../src/engine/rest/openapi/add-documentation.ts'
import { createSchemas } from '../../src/engine/rest/openapi/json-schemas.ts'
import { toOpenApiDocument } from '../../src/engine/rest/openapi/openapi-document.ts'

// The building blocks of the OpenAPI document, with routes of the test's own.

const contract = { ...restContract, partsOf: () => ({ webhooks: {} }) }
const publicUrl = 'https://tickets.example'
const security = [{ channelKey: [] }]

type Documented = {
  responses: Record<string, { description: string; content?: Record<string, { examples?: object }> }>
  parameters: [{ example: unknown }]
}

/** Documents one route, and returns its operation. */
const operationOf = (schema: Record<string, unknown>, examples?: ExampleValues) => {
  const routes = [{ method: 'GET', url: '/things/:thingId', schema }]
  const document = toOpenApiDocument(contract, routes, publicUrl)
  const { paths } = examples ? contract.fill(document, examples) : document
  return paths['/things/{thingId}']?.get as Documented
}

test('a response may have media types of its own', () => {
  const csv = { 'text/csv': { schema: z.string(), example: 'id\n1\n' } }
  const json = { 'application/json': { schema: z.object({ id: z.string() }) } }
  const response = { 200: { description: 'Things.', content: { ...csv, ...json } } }
  const example = { answer: { id: '1' } }
  expect(operationOf({ security, response, example }).responses[200]).toMatchObject({
    description: 'Things.',
    content: {
      'text/csv': { schema: { type: 'string' }, example: 'id\n1\n' },
      'application/json': { schema: { type: 'object', required: ['id'] }, example: { id: '1' } },
    },
  })
})

test('codes follow from credentials and input, and are listed once with those of the route', () => {
  const codesOf = (schema: Record<string, unknown>) => {
    const { responses } = operationOf({ response: { 200: z.string() }, ...schema })
    return Object.fromEntries(
      Object.entries(responses).map(([status, { content }]) => [
        status,
        Object.keys(content?.['application/json']?.examples ?? {}),
      ]),
    )
  }
  expect(codesOf({})).toEqual({
    200: [],
    400: ['BAD_REQUEST'],
    408: ['BAD_REQUEST'],
    429: ['RATE_LIMITED'],
    431: ['BAD_REQUEST'],
    500: ['INTERNAL'],
    503: ['BUSY'],
  })
  expect(codesOf({ security, params: z.object({ thingId: z.string() }) })).toMatchObject({
    401: ['UNAUTHENTICATED'],
    403: ['FORBIDDEN'],
    404: ['NOT_FOUND'],
  })
  expect(codesOf({ body: z.object({}), refuses: ['REQUIRED', 'SOLD_OUT'] })).toMatchObject({
    400: ['BAD_REQUEST', 'INVALID', 'REQUIRED', 'UNKNOWN_FIELD'],
    409: ['SOLD_OUT'],
    413: ['BODY_TOO_LARGE'],
    415: ['UNSUPPORTED_MEDIA_TYPE'],
  })
})

test('requests refuse unknown fields, and responses are open for new ones', () => {
  const schemas = createSchemas()
  expect(schemas.convert(z.strictObject({ a: z.string() }), 'input').additionalProperties).toBe(false)
  expect(schemas.convert(z.object({ a: z.string() }), 'output').additionalProperties).toBeUndefined()
})

test('a named schema is a component, and a description beside its reference is the field’s', () => {
  const schemas = createSchemas()
  const thing = z.object({ id: z.string() }).meta({ id: 'Thing', description: 'A thing.' })
  const page = z.object({ first: thing.describe('The first.'), others: z.array(thing) })
  const reference = { $ref: '#/components/schemas/Thing' }
  expect(schemas.convert(page, 'output').properties).toEqual({
    first: { ...reference, description: 'The first.' },
    others: { type: 'array', items: reference },
  })
  expect(schemas.components()).toMatchObject({ Thing: { type: 'object', description: 'A thing.' } })
})

test('null is one of the types of a value, and one of the values of an enumeration', () => {
  const { convert } = createSchemas()
  expect(convert(z.string().min(1).nullable(), 'output')).toEqual({ type: ['string', 'null'], minLength: 1 })
  expect(convert(z.enum(['a']).nullish(), 'input')).toEqual({ type: ['string', 'null'], enum: ['a', null] })
})

test('two schemas of one name are refused', () => {
  const schemas = createSchemas()
  schemas.convert(z.object({ a: z.string() }).meta({ id: 'Twin' }), 'output')
  expect(() => schemas.convert(z.object({ b: z.string() }).meta({ id: 'Twin' }), 'output')).toThrow(
    'two schemas are named Twin',
  )
})

test('examples show identifiers that are known to work, and keys stay out of the document', () => {
  const keys = {
    ...{ key: 'box_test_1', publishableKey: 'box_test_2', integrationKey: 'box_test_3' },
    ...{ doorEventId: 'evt_door', doorTicketId: 'tkt_door' },
  }
  const examples = { ...keys, ...exampleIds, ticketId: 'tkt_demo' }
  const params = z.object({ thingId: z.string() })
  const example = { params: { thingId: exampleIds.ticketId }, answer: 'x' }
  const schema = { params, response: { 200: z.string() }, example }
  expect(operationOf(schema).parameters[0].example).toBe(exampleIds.ticketId)
  expect(operationOf(schema, examples).parameters[0].example).toBe('tkt_demo')
  const document = contract.fill(toOpenApiDocument(contract, [], publicUrl), examples)
  expect(JSON.stringify(document)).not.toContain('box_test')
})

test('a failure to find the examples does not last', async () => {
  const app = fastify()
  readCredentials(app)
  let failures = 1
  const find = async () => {
    if (failures-- > 0) throw new Error('the database is away')
    return undefined
  }
  addDocumentation(
    app,
    restContract,
    () => publicUrl,
    () => find,
  )
  const statuses = []
  for (const url of ['/openapi.json', '/openapi.json', '/docs'])
    statuses.push((await app.inject(url)).statusCode)
  expect(statuses).toEqual([500, 200, 200])
  await app.close()
})
