import { STATUS_CODES } from 'node:http'
import type { FastifySchema } from 'fastify'
import { type Problem, Refusal } from '../../base/errors.ts'
import { groupBy } from '../../base/group-by.ts'
import { type Code, problemCodes } from '../../base/problem-codes.ts'
import { errorBody, toErrorBody } from '../error-body.ts'
import { toSnakeCase } from '../snake-case.ts'
import { headers, refersToHeaders, usualHeaders } from './headers.ts'
import type { Schemas } from './json-schemas.ts'

const describe = (code: Code) =>
  problemCodes[code].text.replace(/`(\w+)`/g, (_, name: string) => `\`${toSnakeCase(name)}\``)

// Every request may be malformed, one too many, or come at a bad time.
const usualCodes: Code[] = ['BAD_REQUEST', 'RATE_LIMITED', 'INTERNAL', 'BUSY']

/** Lists the codes that a route refuses with: those that it names, and those that its credentials and its
 *  input imply. */
export function codesOf(schema: FastifySchema): Code[] {
  const { security, params, querystring, headers, body, refuses = [] } = schema
  const implied: Code[] = [
    ...usualCodes,
    ...(security?.length ? (['UNAUTHENTICATED', 'FORBIDDEN'] as const) : []),
    ...(querystring || headers || body ? (['INVALID', 'UNKNOWN_FIELD'] as const) : []),
    ...(body ? (['REQUIRED', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(params ? (['NOT_FOUND'] as const) : []),
  ]
  const all = new Set([...implied, ...refuses])
  return (Object.keys(problemCodes) as Code[]).filter((code) => all.has(code))
}

const exampleOf = (code: Code) => {
  const refusal = new Refusal({ code, message: describe(code), facts: problemCodes[code].facts } as Problem)
  return { summary: describe(code), value: toErrorBody(refusal, headers['X-Request-Id'].example) }
}

const canRetry = (code: Code) => 'retryAfter' in (problemCodes[code].facts ?? {})

function responseOf(summary: string, codes: Code[], schemas: Schemas) {
  return {
    description: [`${summary}:`, '', ...codes.map((code) => `- \`${code}\`: ${describe(code)}`)].join('\n'),
    content: {
      'application/json': {
        schema: {
          allOf: [
            schemas.convert(errorBody, 'output'),
            { type: 'object', properties: { code: { type: 'string', enum: codes } } },
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
      },
    },
  }
}

// Statuses of input that never becomes a request, which therefore has no headers of its own.
const rawStatuses: Record<string, string> = {
  408: 'The request took too long to arrive',
  431: 'The headers are too large',
}

/** Documents the refusals of a route by status, each with its codes and an example of each code. */
export function refusalsOf(schema: FastifySchema, schemas: Schemas): Record<string, unknown> {
  const codes = codesOf(schema)
  const byStatus = groupBy(codes, (code) => String(problemCodes[code].status))
  const refused = [...byStatus].map(([status, codes]) => {
    const retries = codes.some(canRetry) ? (['Retry-After'] as const) : []
    const { description, content } = responseOf(STATUS_CODES[status] ?? '', codes, schemas)
    return [status, { description, headers: refersToHeaders([...usualHeaders, ...retries]), content }]
  })
  const raw = Object.entries(rawStatuses).map(([status, summary]) => [
    status,
    responseOf(summary, ['BAD_REQUEST'], schemas),
  ])
  return Object.fromEntries([...refused, ...raw])
}
