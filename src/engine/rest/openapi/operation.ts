import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { type HeaderName, refersToHeaders, usualHeaders } from './headers.ts'
import type { JsonSchema, Schemas } from './json-schemas.ts'

/** Example of a request and of the body that answers it. Identifiers are those of `exampleIds`. */
type RouteExample = {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean>
  /** Values of further parameters, with which the documentation page fills no request. */
  others?: Record<string, string | number | boolean>
  body?: unknown
  /** Body of the successful response, or its text if that is not JSON. */
  answer: unknown
}

declare module 'fastify' {
  interface FastifySchema {
    /** Headers of the successful response, besides those of every response. */
    sends?: readonly HeaderName[]
    /** True if the response has an ETag, and `If-None-Match` may answer 304. */
    isConditional?: boolean
    example?: RouteExample
  }
}

export type Operation = Record<string, unknown>

/** Documents the refusals of a route. */
type RefusalsOf = (schema: FastifySchema) => Record<string, unknown>

const places = { params: 'path', querystring: 'query', headers: 'header' } as const

// `idempotency-key` as `Idempotency-Key`, in the usual spelling of HTTP.
const headerName = (name: string) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier response. Answers 304 without a body if it still holds.',
  schema: { type: 'string', examples: ['"Yk2s0jX8uQmLw3vN"'] },
}

function parametersOf(schema: FastifySchema, schemas: Schemas): Operation[] {
  const { example, isConditional } = schema
  const { others = {} } = example ?? {}
  const found = (Object.keys(places) as (keyof typeof places)[]).flatMap((part) => {
    const type = schema[part]
    if (!(type instanceof z.ZodType)) return []
    const { properties = {}, required = [] } = schemas.convert(type, 'input')
    const given = { params: example?.params, querystring: example?.query, headers: {} }[part] ?? {}
    return Object.entries(properties as Record<string, JsonSchema>).map(
      ([name, { description, ...field }]) => ({
        name: part === 'headers' ? headerName(name) : name,
        in: places[part],
        required: part === 'params' || required.includes(name),
        description,
        schema: { ...field, ...(name in others && { examples: [others[name]] }) },
        ...(name in given && { example: given[name] }),
      }),
    )
  })
  return isConditional ? [...found, ifNoneMatch] : found
}

// Fastify's form of a response with media types of its own.
type WithContent = { description: string; content: Record<string, { schema: z.ZodType; example?: unknown }> }

function contentOf(answer: z.ZodType | WithContent, example: unknown, schemas: Schemas) {
  if (answer instanceof z.ZodType) {
    const { description: _description, ...schema } = schemas.convert(answer, 'output')
    return { description: answer.description ?? '', content: { 'application/json': { schema, example } } }
  }
  const media = Object.entries(answer.content).map(([type, { schema, example: own }]) => {
    const shown = own ?? (type === 'application/json' ? example : undefined)
    return [type, { schema: schemas.convert(schema, 'output'), example: shown }]
  })
  return { description: answer.description, content: Object.fromEntries(media) }
}

function responsesOf(schema: FastifySchema, schemas: Schemas, refusalsOf: RefusalsOf) {
  const { response = {}, sends = [], isConditional = false, example } = schema
  const tags: HeaderName[] = isConditional ? ['ETag', 'Cache-Control'] : []
  const headers = refersToHeaders([...usualHeaders, ...tags, ...sends])
  const answered = Object.entries(response as Record<string, z.ZodType | WithContent>).map(
    ([status, answer]) => {
      const { description, content } = contentOf(answer, example?.answer, schemas)
      return [status, { description, headers, content }]
    },
  )
  // Has the headers of the page, `Link` among them, because another page may follow by now.
  const notModified = { description: 'The response that the client has still holds.', headers }
  return {
    ...Object.fromEntries(answered),
    ...(isConditional && { 304: notModified }),
    ...refusalsOf(schema),
  }
}

function requestBodyOf({ body, example }: FastifySchema, schemas: Schemas) {
  if (!(body instanceof z.ZodType)) return {}
  const { description = body.description, ...schema } = schemas.convert(body, 'input')
  const content = { 'application/json': { schema, example: example?.body } }
  return { requestBody: { description, required: true, content } }
}

/** Documents one route as an operation: its input, its responses by status, and its examples. */
export function toOperation(schema: FastifySchema, schemas: Schemas, refusalsOf: RefusalsOf): Operation {
  const { operationId, summary, description, tags, security = [] } = schema
  const parameters = parametersOf(schema, schemas)
  return {
    ...{ operationId, summary, description, tags, security },
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(schema, schemas),
    responses: responsesOf(schema, schemas, refusalsOf),
  }
}
