import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from './from-json-schema.ts'

type Parameter = { name: string; in: 'query' | 'path' | 'header'; required?: boolean; schema: JsonSchema }
type Content = { content?: Record<string, { schema: JsonSchema }> }
export type Operation = {
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content>
}
export type Document = { paths: Record<string, Record<string, Operation>> }

export type Route = { method: string; path: string; operation: Operation }

export const routesOf = ({ paths }: Document): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

type Answer = { statusCode: number; headers: Record<string, unknown>; body: string }

/** Creates a function that validates a response against the documented operation and status. It returns the
 *  mistake, or null. */
export function createAnswerChecker() {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const compiled = new Map<JsonSchema, ValidateFunction>()

  return ({ operation }: Route, { statusCode, headers, body }: Answer): string | null => {
    const { responses } = operation
    const documented = responses[String(statusCode)] ?? responses[`${String(statusCode)[0]}XX`]
    if (!documented) return `${statusCode} is not documented`
    const schema = documented.content?.['application/json']?.schema
    if (!schema) return body === '' ? null : `${statusCode} is documented without a body`
    if (headers['content-type'] !== 'application/json; charset=utf-8')
      return `${statusCode} is answered as ${headers['content-type']}`
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    return validate(JSON.parse(body)) ? null : ajv.errorsText(validate.errors)
  }
}
