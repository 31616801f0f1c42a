import { z } from 'zod'
import { Refusal } from './errors.ts'
import { parse } from './scalars.ts'

export const graphqlPath = '/graphql'
/** Bytes of a request's body, on both surfaces. */
export const bodyLimit = 256 * 1024

const object = z.record(z.string(), z.unknown(), 'must be a JSON object').nullish()

const parameters = z.strictObject({
  query: z.string('must be text').min(1, 'must not be empty').max(50_000, 'must be at most 50000 characters'),
  variables: object,
  operationName: z.string().nullish(),
  extensions: object,
})

export type Parameters = z.output<typeof parameters>

const json = z.string().transform((text, issues): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    issues.addIssue({ code: 'custom', message: 'must be JSON' })
    return z.NEVER
  }
})

const inQuery = parameters.extend({
  variables: json.pipe(object).optional(),
  extensions: json.pipe(object).optional(),
})

/** Reads the parameters of a GraphQL request before Yoga reads them, which takes variables that are no JSON for a fault
 *  of its own, ignores what it doesn't know in a query string, and keeps a document of any length in its cache.
 *  Refuses: BAD_REQUEST, REQUIRED, INVALID, UNKNOWN_FIELD. */
export function readParameters({
  method,
  query,
  body,
}: {
  method: string
  query: unknown
  body: unknown
}): Parameters {
  if (method === 'GET') return parse(inQuery, query)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal({
      code: 'BAD_REQUEST',
      message: 'The body must be one JSON object. Requests are not batched.',
    })
  return parse(parameters, body)
}
