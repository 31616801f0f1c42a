import { STATUS_CODES } from 'node:http'
import type { FastifySchema } from 'fastify'
import { errorDescriptions } from '../../shared/error-descriptions.ts'
import { type Code, type FactsByCode, type Problem, Refusal, statusOf } from '../../shared/errors.ts'
import { groupBy } from '../../shared/group-by.ts'
import { errorBody, toErrorBody } from '../error-body.ts'
import { toSnakeCase } from '../snake-case.ts'
import { headers, refersToHeaders, usualHeaders } from './headers.ts'
import type { Schemas } from './json-schemas.ts'

// Facts in the example of each code that has some.
const exampleFacts: { [C in keyof FactsByCode]: FactsByCode[C] } = {
  SOLD_OUT: { available: 0 },
  INSUFFICIENT_AVAILABILITY: { available: 1 },
  MIN_TICKETS: { min: 2, max: 10 },
  MAX_TICKETS: { min: 1, max: 10 },
  NOT_ON_SALE_YET: { validFrom: '2026-12-01T09:00:00.000Z' },
  SALE_ENDED: { validUntil: '2026-12-31T18:00:00.000Z' },
  EVENT_STARTED: { startDate: '2026-12-31T20:00:00.000Z' },
  DISCOUNT_NOT_VALID: { validFrom: '2026-12-01T00:00:00.000Z', validUntil: '2026-12-24T00:00:00.000Z' },
  DISCOUNT_USED_UP: { available: 1 },
  UNDER_AGE: { minimumAge: 18 },
  TOTAL_INCREASED: { totalAmount: 21.6 },
  METADATA_TOO_LARGE: { limit: 1024 },
  TOO_MANY_WEBHOOKS: { limit: 10 },
  ILLEGAL_TRANSITION: { from: 'cancelled', to: 'updated' },
  REFUND_TOO_HIGH: { refundable: 12.5 },
  WARRANTY_ENDED: { validUntil: '2026-12-30T20:00:00.000Z' },
  TOO_MANY_RESENDS: { limit: 5, retryAfter: 3600 },
  RATE_LIMITED: { limit: 1000, retryAfter: 1 },
  BUSY: { retryAfter: 1 },
}

const describe = (code: Code) =>
  errorDescriptions[code].replace(/`(\w+)`/g, (_, name: string) => `\`${toSnakeCase(name)}\``)

// Every request may be malformed, one too many, or come at a bad time.
const usualCodes: Code[] = ['BAD_REQUEST', 'RATE_LIMITED', 'INTERNAL', 'BUSY']

/** Lists the codes that a route refuses with: those that it names, and those that its credentials and its
 *  input imply. */
export function codesOf({
  security,
  params,
  querystring,
  headers,
  body,
  refuses = [],
}: FastifySchema): Code[] {
  const implied: Code[] = [
    ...usualCodes,
    ...(security?.length ? (['UNAUTHENTICATED', 'FORBIDDEN'] as const) : []),
    ...(querystring || headers || body ? (['INVALID', 'UNKNOWN_FIELD'] as const) : []),
    ...(body ? (['REQUIRED', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(params ? (['NOT_FOUND'] as const) : []),
  ]
  const all = new Set([...implied, ...refuses])
  return (Object.keys(statusOf) as Code[]).filter((code) => all.has(code))
}

const exampleOf = (code: Code) => {
  const facts = code in exampleFacts ? { facts: exampleFacts[code as keyof FactsByCode] } : {}
  const refusal = new Refusal({ code, message: describe(code), ...facts } as Problem)
  return { summary: describe(code), value: toErrorBody(refusal, headers['X-Request-Id'].example) }
}

const canRetry = (code: Code) =>
  code in exampleFacts && 'retryAfter' in exampleFacts[code as keyof FactsByCode]

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
  const byStatus = groupBy(codes, (code) => String(statusOf[code]))
  const refused = [...byStatus].map(([status, codes]) => {
    const retries = codes.some(canRetry) ? (['Retry-After'] as const) : []
    const { description, content } = responseOf(STATUS_CODES[status] ?? '', codes, schemas)
    return [
      status === '500' ? '5XX' : status,
      { description, headers: refersToHeaders([...usualHeaders, ...retries]), content },
    ]
  })
  const raw = Object.entries(rawStatuses).map(([status, summary]) => [
    status,
    responseOf(summary, ['BAD_REQUEST'], schemas),
  ])
  return Object.fromEntries([...refused, ...raw])
}
