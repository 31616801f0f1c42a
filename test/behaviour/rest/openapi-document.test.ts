// Runs in: postgres

import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { watchRoutes } from '../../support/authorization/entry-points.ts'
import type { JsonSchema } from '../../support/fuzz/from-json-schema.ts'
import { shared, startGateway } from '../../support/harness.ts'
import { mistakeIn, mistakeInAnswer } from '../../support/openapi/answer-checker.ts'
import { type Document, readDocument, resolveReferences, routesOf } from '../../support/openapi/document.ts'

// Contents of the OpenAPI document.

type Described = JsonSchema & { description?: string; $ref?: string }

let raw: Document
let document: Document
const gateway = shared(() => startGateway({ settings: { PUBLIC_URL: 'https://tickets.example' } }))
beforeAll(async () => {
  raw = (await gateway.rest('GET', '/openapi.json')).json<Document>()
  document = await readDocument(gateway.app)
})

test('the document names the version of the package and the address of the service', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(raw.info.version).toBe(version)
  expect(raw.servers).toEqual([{ url: 'https://tickets.example', description: 'This service.' }])
})

test('the document is answered with an ETag, and 304 to a client that has it', async () => {
  const first = await gateway.rest('GET', '/openapi.json')
  const again = await gateway.rest('GET', '/openapi.json', {
    headers: { 'if-none-match': String(first.headers.etag) },
  })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

// Named as the documented interface names them, but where a language or a browser has a type of that name.
const named =
  'ListedEvent TicketRate Price RateSupplement Question CheckoutRequest CheckoutTicketEntry IssuedTicket '
    .concat('Ticket Refusal Problem ErrorCode PaymentPaidMessage PaymentState TicketState')
    .split(' ')

test('the secret of method v1 is described as that of the organization', () => {
  const { secret } = document.components.securitySchemes as Record<string, { description?: string }>
  expect(secret?.description).toMatch(/secret of the organization/)
})

test('schemas are named and referred to', () => {
  expect(Object.keys(raw.components.schemas)).toEqual(expect.arrayContaining(named))
  const bodyOf = (path: string, method: string) =>
    raw.paths[path]?.[method]?.requestBody?.content['application/json']?.schema
  const answerOf = (path: string, method: string) =>
    raw.paths[path]?.[method]?.responses[200]?.content?.['application/json']?.schema
  const refersTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  expect(bodyOf('/tickets/checkout', 'post')).toEqual(refersTo('CheckoutRequest'))
  expect(answerOf('/tickets/checkout', 'post')).toEqual(refersTo('CheckoutResponse'))
  expect(answerOf('/events', 'get')).toEqual(refersTo('EventPage'))
  expect(answerOf('/integrations/tickets/{ticketId}', 'get')).toEqual(refersTo('TicketResponse'))
})

// Types that a module would hide by one of its own: those of browsers too.
const taken = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...['Location', 'Notification', 'Document', 'Element', 'Node', 'Record', 'Exception', 'Result', 'Option'],
])

test('no schema is named as a type of a language that clients are generated for', () => {
  expect(Object.keys(raw.components.schemas).filter((name) => taken.has(name))).toEqual([])
  // Control: names that were.
  for (const name of ['Error', 'Event']) expect(taken.has(name)).toBe(true)
})

test('every parameter has an example that is valid', () => {
  let count = 0
  for (const [path, operations] of Object.entries(raw.paths))
    for (const [method, { parameters = [] }] of Object.entries(operations))
      for (const { name, example, schema } of parameters as {
        name: string
        example?: unknown
        schema: JsonSchema
      }[]) {
        const [shown] = [example, ...((schema as { examples?: unknown[] }).examples ?? [])].filter(
          (value) => value !== undefined,
        )
        const at = `${method} ${path} ${name}`
        expect(shown, at).toBeDefined()
        expect(mistakeIn(schema, shown), at).toBeNull()
        count++
      }
  expect(count).toBeGreaterThan(50)
})

function undescribed(schema: Described, at: string): string[] {
  const { properties = {}, items, anyOf = [] } = schema
  const fields = Object.entries<Described>(properties).flatMap(([name, field]) => [
    ...(field.description ? [] : [`${at}.${name}`]),
    ...undescribed(field, `${at}.${name}`),
  ])
  return [...fields, ...[...anyOf, ...(items ? [items] : [])].flatMap((inner) => undescribed(inner, at))]
}

const undescribedIn = ({ components }: Document) =>
  Object.entries<Described>(components.schemas).flatMap(([name, schema]) => [
    ...(schema.description ? [] : [name]),
    ...undescribed(schema, name),
  ])

test('every schema, field, parameter and response has a description', () => {
  expect(undescribedIn(document)).toEqual([])
  const parts = routesOf(document).flatMap(({ method, path, operation }) =>
    [...(operation.parameters ?? []), ...Object.values(operation.responses)]
      .filter((part) => !(part as Described).description)
      .map(() => `${method} ${path}`),
  )
  expect(parts).toEqual([])
})

test('control: a field without a description is found', () => {
  const { components } = structuredClone(document)
  const fields = components.schemas.ListedEvent?.properties ?? {}
  fields.name = { type: 'string' }
  expect(undescribedIn({ ...document, components })).toContain('ListedEvent.name')
})

test('parameters have their defaults', () => {
  const parameters = document.paths['/events']?.get?.parameters ?? []
  const defaults = parameters.flatMap(({ name, schema }) => {
    const { default: value } = schema as { default?: unknown }
    return value === undefined ? [] : [[name, value]]
  })
  expect(defaults).toEqual([
    ['limit', 50],
    ['offset', 0],
  ])
})

describe('responses', () => {
  const statusesOf = (path: string, method: string) =>
    Object.keys(document.paths[path]?.[method]?.responses ?? {})

  test('each status is documented by itself', () => {
    const usual = ['400', '401', '403', '408', '429', '431', '500', '503']
    const with_ = (...more: string[]) => [...more, ...usual].toSorted()
    expect(statusesOf('/events', 'get').toSorted()).toEqual(with_('200', '304'))
    expect(statusesOf('/tickets/checkout', 'post').toSorted()).toEqual(
      with_('200', '404', '409', '413', '415', '422'),
    )
    expect(statusesOf('/integrations/tickets/{ticketId}', 'get').toSorted()).toEqual(with_('200', '404'))
  })

  test('each code of a status has an example of its shape', () => {
    const wrong = routesOf(document).flatMap(({ operation: { responses } }) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.values(content).flatMap(({ schema, example, examples = {} }) => {
          const shown = Object.values(examples).map(({ value }) => value)
          const all = example === undefined ? shown : [example, ...shown]
          if (all.length === 0) return [`${status} has no example`]
          return all.map((value) => mistakeIn(schema, value)).filter((mistake) => mistake !== null)
        }),
      ),
    )
    expect(wrong).toEqual([])
    const sold = document.paths['/tickets/checkout']?.post?.responses[409]?.content?.['application/json']
    expect(sold?.examples?.INSUFFICIENT_AVAILABILITY?.value).toMatchObject({
      success: false,
      code: 'INSUFFICIENT_AVAILABILITY',
      errors: [{ available: 1 }],
    })
  })

  test('headers stand where they are sent', () => {
    const headersOf = (path: string, method: string, status: string) =>
      Object.keys(document.paths[path]?.[method]?.responses[status]?.headers ?? {})
    expect(headersOf('/events', 'get', '200')).toEqual(
      expect.arrayContaining(['X-Request-Id', 'X-RateLimit-Limit', 'ETag', 'Cache-Control', 'Link']),
    )
    expect(headersOf('/events', 'get', '304')).toEqual(expect.arrayContaining(['ETag', 'Link']))
    expect(headersOf('/events', 'get', '429')).toContain('Retry-After')
    expect(headersOf('/events', 'get', '503')).toContain('Retry-After')
    expect(headersOf('/events', 'get', '404')).toEqual([])
    expect(headersOf('/tickets/checkout', 'post', '200')).toContain('Idempotent-Replayed')
  })
})

test('a document resolves references at any depth and keeps what stands beside them', () => {
  const parts = { a: { $ref: '#/b' }, b: { c: { $ref: '#/d', description: 'own' } }, d: { description: 'd' } }
  expect(resolveReferences(parts)).toMatchObject({ a: { c: { description: 'own' } } })
})

describe('control: a response that is not as documented is found', () => {
  const json = { 'content-type': 'application/json; charset=utf-8' }
  const refused = (code: string, more = {}) => ({
    success: false,
    code,
    message: '',
    errors: [{ code, message: '', ...more }],
    request_id: '',
  })

  test.each<[string, number, unknown, Record<string, string>, string]>([
    ['status', 404, refused('NOT_FOUND'), json, '404 is not documented'],
    ['code', 400, refused('SOLD_OUT'), json, 'data/code must be equal to one of the allowed values'],
    ['code that does not exist', 400, refused('ODD'), json, 'must be equal to one of the allowed values'],
    ['fact', 400, refused('INVALID', { colour: 'red' }), json, 'must NOT have additional properties'],
    ['field', 200, { success: true, data: [], next: 1 }, json, 'must NOT have additional properties'],
    ['type', 200, { success: true, data: {} }, json, 'data/data must be array'],
    ['header', 401, refused('UNAUTHENTICATED'), { ...json, etag: '"1"' }, '401 is documented without etag'],
    ['media type', 401, {}, { 'content-type': 'text/html' }, '401 is answered as text/html'],
  ])('%s', (_what, statusCode, body, headers, mistake) => {
    const [events] = routesOf(document)
    if (!events) throw new Error('there is a route')
    const answer = { statusCode, headers, body: JSON.stringify(body) }
    expect(mistakeInAnswer(events, answer)).toContain(mistake)
  })

  test('by the harness itself', async () => {
    const spoil = (app: FastifyInstance) => {
      app.addHook('onSend', async (request, reply, payload) => {
        if (request.url.startsWith('/events')) reply.code(418)
        return payload
      })
    }
    const { result: broken } = await watchRoutes(() => startGateway(), spoil)
    await expect(broken.rest('GET', '/events')).rejects.toThrow('418 is not documented')
    await broken.close()
  })
})
