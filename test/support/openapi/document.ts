import type { FastifyInstance } from 'fastify'
import type { JsonSchema } from '../fuzz/from-json-schema.ts'

// The OpenAPI document with its references resolved.

type Parameter = { name: string; in: 'query' | 'path' | 'header'; required?: boolean; schema: JsonSchema }
type Media = { schema: JsonSchema; example?: unknown; examples?: Record<string, { value: unknown }> }
export type Response = { content?: Record<string, Media>; headers?: Record<string, unknown> }
export type Operation = {
  operationId?: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response>
}
export type Document = {
  info: { version: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, unknown> }
}

export type Route = { method: string; path: string; operation: Operation }

/** Replaces references to components by what they refer to. Keywords beside a reference stay. */
export function resolveReferences<Resolved>(document: object): Resolved {
  const find = (reference: string) =>
    reference
      .slice(2)
      .split('/')
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document)
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as { $ref?: unknown }
    const found = typeof $ref === 'string' ? (resolve(find($ref)) as object) : {}
    return {
      ...found,
      ...Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, resolve(inner)])),
    }
  }
  return resolve(document) as Resolved
}

/** Reads the document of an application, with its references resolved. */
export async function readDocument(app: Pick<FastifyInstance, 'inject'>): Promise<Document> {
  const answer = await app.inject({ method: 'GET', url: '/openapi.json' })
  return resolveReferences<Document>(answer.json<object>())
}

/** Lists the documented operations. */
export const routesOf = ({ paths }: Pick<Document, 'paths'>): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
