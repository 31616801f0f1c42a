import { STATUS_CODES } from 'node:http'
import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { type CodeEntry, Refusal } from '../../base/errors.ts'
import { groupBy } from '../../base/group-by.ts'
import { requestLimits } from '../../base/request-limits.ts'
import { toErrorBody } from '../error-body.ts'
import { toSnakeCase } from '../snake-case.ts'
import { headers, refersToHeaders, usualHeaders } from './headers.ts'
import type { Schemas } from './json-schemas.ts'

/** Codes of refusals and their facts, each with its kind and its description, as the product has them. `path` is an
 *  example of the path of an invalid input. */
export type Refusals = {
  codes: Record<string, CodeEntry>
  facts: Record<string, readonly [kind: keyof typeof factTypes, description: string]>
  path: string
}

const factTypes = { count: z.int(), amount: z.number(), moment: z.iso.datetime(), status: z.string() }

/** Makes the schema of the body of a refusal. */
function errorBodyOf({ codes, facts, path }: Refusals) {
  const errorCode = z
    .enum(Object.keys(codes))
    .meta({ id: 'ErrorCode', description: 'Machine-readable error code, the same in REST and GraphQL.' })
  const factFields = Object.entries(facts).map(([name, [kind, description]]) => [
    toSnakeCase(name),
    factTypes[kind].optional().describe(description),
  ])
  const problemBody = z
    .looseObject({
      code: errorCode.describe('Code of this error.'),
      message: z.string().describe('Human-readable message.'),
      path: z.string().optional().describe(`Path of the invalid input, such as \`${path}\`.`),
    })
    .extend(Object.fromEntries(factFields) as Record<string, z.ZodOptional>)
    .meta({ id: 'Problem', description: 'One error of a refused request, with the facts that its code has.' })
  return z
    .object({
      success: z.literal(false).describe('Always false for an error.'),
      code: errorCode.describe('Code of the first error.'),
      message: z.string().describe('Message of the first error.'),
      errors: z.array(problemBody).min(1).max(requestLimits.maxErrors).describe('All errors, at most 100.'),
      request_id: z.string().describe('Identifier of the request, which the logs name.'),
    })
    .meta({ id: 'Refusal', description: 'Refused request.' })
}

// Every request may be malformed, one too many, or come at a bad time.
const usualCodes = ['BAD_REQUEST', 'RATE_LIMITED', 'INTERNAL', 'BUSY']

/** Lists the codes that a route refuses with: those that it names, and those that its credentials and its
 *  input imply. */
function codesOf({ security, params, querystring, headers, body, refuses = [] }: FastifySchema): Set<string> {
  return new Set([
    ...usualCodes,
    ...(security?.length ? ['UNAUTHENTICATED', 'FORBIDDEN'] : []),
    ...(querystring || headers || body ? ['INVALID', 'UNKNOWN_FIELD'] : []),
    ...(body ? ['REQUIRED', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] : []),
    ...(params ? ['NOT_FOUND'] : []),
    ...refuses,
  ])
}

// Statuses of input that never becomes a request, which therefore has no headers of its own.
const rawStatuses: Record<string, string> = {
  408: 'The request took too long to arrive',
  431: 'The headers are too large',
}

type Entry = CodeEntry & { code: string }

const describe = ({ text }: Entry) =>
  text.replace(/`(\w+)`/g, (_, name: string) => `\`${toSnakeCase(name)}\``)

function exampleOf(entry: Entry) {
  const message = describe(entry)
  return {
    summary: message,
    value: toErrorBody(new Refusal({ ...entry, message }), headers['X-Request-Id'].example),
  }
}

/** Makes what documents the refusals of a route by status, each with its codes and an example of each code. */
export function refusalsWith(refusals: Refusals, schemas: Schemas) {
  const errorBody = errorBodyOf(refusals)
  const all = Object.entries(refusals.codes).map(([code, entry]) => ({ code, ...entry }))
  const malformed = all.filter(({ code }) => code === 'BAD_REQUEST')

  function responseOf(summary: string, entries: Entry[], headers?: object) {
    const named = entries.map((entry) => `- \`${entry.code}\`: ${describe(entry)}`)
    const code = { type: 'string', enum: entries.map(({ code }) => code) }
    const schema = { allOf: [schemas.convert(errorBody, 'output'), { type: 'object', properties: { code } }] }
    const examples = Object.fromEntries(entries.map((entry) => [entry.code, exampleOf(entry)]))
    return {
      description: [`${summary}:`, '', ...named].join('\n'),
      ...(headers && { headers }),
      content: { 'application/json': { schema, examples } },
    }
  }

  return (schema: FastifySchema): Record<string, unknown> => {
    const codes = codesOf(schema)
    const refused = all.filter(({ code }) => codes.has(code))
    const byStatus = [...groupBy(refused, ({ status }) => String(status))].map(([status, entries]) => {
      const canRetry = entries.some(({ facts = {} }) => 'retryAfter' in facts)
      const headers = refersToHeaders([...usualHeaders, ...(canRetry ? (['Retry-After'] as const) : [])])
      return [status, responseOf(STATUS_CODES[status] ?? '', entries, headers)]
    })
    const raw = Object.entries(rawStatuses).map(([status, summary]) => [
      status,
      responseOf(summary, malformed),
    ])
    return Object.fromEntries([...byStatus, ...raw])
  }
}
