import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../fuzz/from-json-schema.ts'
import type { Document, Response, Route } from './document.ts'
import { routesOf } from './document.ts'

export type Answer = { statusCode: number; headers: Record<string, unknown>; body: string }

type Schema = JsonSchema & { allOf?: JsonSchema[] }

const each = (schemas: Record<string, JsonSchema>, change: (schema: JsonSchema) => JsonSchema) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]))

/** Refuses fields that are not documented, which clients must accept and the service must not send. */
function seal(schema: Schema): JsonSchema {
  const { properties, items, anyOf, allOf } = schema
  return {
    ...schema,
    ...(properties && { additionalProperties: false, properties: each(properties, seal) }),
    ...(items && { items: seal(items) }),
    ...(anyOf && { anyOf: anyOf.map(seal) }),
    // Its members know only some of the fields each.
    ...(allOf && { allOf: allOf.map(sealBelow), unevaluatedProperties: false }),
  }
}

function sealBelow(schema: JsonSchema): JsonSchema {
  const { properties } = schema
  return properties ? { ...schema, properties: each(properties, seal) } : schema
}

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/** Returns the mistake of a value that doesn't fit a documented schema; null if there is none. */
export function mistakeIn(schema: JsonSchema, value: unknown): string | null {
  const validate = compiled.get(schema) ?? ajv.compile(seal(schema))
  compiled.set(schema, validate)
  return validate(value) ? null : ajv.errorsText(validate.errors)
}

// Headers that are documented where they are sent. The others are the same for every response.
const watched = /^(x-request-id|x-ratelimit-.*|etag|link|retry-after|idempotent-replayed|deprecation)$/

const undocumentedHeader = (sent: Answer['headers'], { headers = {} }: Response) => {
  const known = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  return Object.keys(sent).find((name) => watched.test(name) && !known.has(name))
}

/** Returns the mistake of a response that is not as the operation documents it; null if there is none. */
export function mistakeInAnswer(
  { method, operation }: Route,
  { statusCode, headers, body }: Answer,
): string | null {
  const { responses } = operation
  const documented = responses[statusCode] ?? responses[`${String(statusCode)[0]}XX`]
  if (!documented) return `${statusCode} is not documented`
  const header = undocumentedHeader(headers, documented)
  if (header) return `${statusCode} is documented without ${header}`
  if (method === 'HEAD') return null
  const { content } = documented
  if (!content) return body === '' ? null : `${statusCode} is documented without a body`
  const type = String(headers['content-type'] ?? '')
  const media = content[type.split(';')[0] ?? '']
  if (!media) return `${statusCode} is answered as ${type}`
  if (!type.startsWith('application/json') || headers['content-encoding'] !== undefined) return null
  if (type !== 'application/json; charset=utf-8') return `${statusCode} is answered as ${type}`
  return mistakeIn(media.schema, JSON.parse(body))
}

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]*')}$`)

/** Creates a function that finds the documented operation of a request; undefined if there is none. */
export function createRouteFinder(document: Document): (method: string, url: string) => Route | undefined {
  // A path without parameters comes before one that it also fits.
  const known = routesOf(document)
    .map((route) => ({ route, pattern: patternOf(route.path) }))
    .toSorted((one, other) => one.route.path.split('{').length - other.route.path.split('{').length)
  return (method, url) => {
    const path = new URL(url, 'http://gateway').pathname
    const asked = method === 'HEAD' ? 'GET' : method
    const found = known.find(({ route, pattern }) => route.method === asked && pattern.test(path))
    return found && { ...found.route, method }
  }
}
