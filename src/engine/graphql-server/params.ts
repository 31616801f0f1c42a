import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { refusal } from '../base/errors.ts'
import { parse, tryParse } from '../base/parse.ts'
import { requestLimits } from '../base/request-limits.ts'
import { findExcess } from '../json/json-bounds.ts'

export const graphqlPath = '/graphql'

const { maxDocumentLength, maxDocumentLines } = requestLimits

const hasFewLines = (query: string) =>
  query.length <= maxDocumentLines ||
  query.split(/\r\n|[\n\r]/, maxDocumentLines + 1).length <= maxDocumentLines

const object = z.record(z.string(), z.unknown(), 'must be a JSON object').nullish()

const text = z
  .string('must be text')
  .max(maxDocumentLength, { error: `must be at most ${maxDocumentLength} characters`, abort: true })
  .refine(hasFewLines, `must have at most ${maxDocumentLines} lines`)

/** Text of a GraphQL document, within the limits that are checked before it is parsed. */
export const documentText = text.min(1, 'must not be empty')

/** Identifier of a document. */
export const documentId = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(256, 'must be at most 256 characters')

const persistedQuery = z.looseObject(
  { version: z.literal(1, 'must be 1'), sha256Hash: documentId },
  'must be an object with version and sha256Hash',
)
const extensions = z
  .looseObject({ persistedQuery: persistedQuery.nullish() }, 'must be a JSON object')
  .nullish()

// Ignores unknown members, as GraphQL over HTTP demands. Takes empty texts, which clients send for what they lack.
const parameters = z.object({
  query: text.nullish(),
  variables: object,
  operationName: z.string().nullish(),
  extensions,
  // Names of a document that was registered: of GraphQL over HTTP, and of usual clients, which also use them for
  // something else beside a document. So they are read only where they name one.
  documentId: z.unknown().optional(),
  id: z.unknown().optional(),
  doc_id: z.unknown().optional(),
})

/** Parameters as sent, where a document may be named by an identifier. */
export type SentParameters = z.output<typeof parameters>

/** Parameters of a request, with the text of its document. */
export type Parameters = Pick<SentParameters, 'variables'> & {
  query: string
  operationName: string | undefined
}

// JSON text in a query string. JSON in a body is checked against the limits when the body is read.
const json = z.string().transform((text, issues): unknown => {
  const value: unknown = tryParse(() => JSON.parse(text || 'null'))
  const mistake = value === undefined ? 'must be JSON' : findExcess(value)
  if (mistake === null) return value
  issues.addIssue({ code: 'custom', message: mistake })
  return z.NEVER
})

const inQuery = parameters.extend({
  variables: json.pipe(object).optional(),
  extensions: json.pipe(extensions).optional(),
})

/** Reads the parameters of a GraphQL request. Refuses: BAD_REQUEST, INVALID. */
export function readParameters({ method, query, body }: FastifyRequest): SentParameters {
  if (method === 'GET') return parse(inQuery, query)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw refusal('BAD_REQUEST', 'The body must be one JSON object. Requests are not batched.')
  return parse(parameters, body)
}
