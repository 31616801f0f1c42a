import type { Code } from '../../shared/problem-codes.ts'
import type { HeaderName } from './headers.ts'

/** Example of a request and of the body that answers it. Identifiers are those of `exampleIds`. */
type RouteExample = {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean>
  body?: unknown
  /** Body of the successful response, or its text if that is not JSON. */
  answer: unknown
}

declare module 'fastify' {
  interface FastifySchema {
    /** Codes that the route refuses requests with, besides those that its credentials, its input and its
     *  method imply (`refusalsOf`). */
    refuses?: readonly Code[]
    /** Headers of the successful response, besides those of every response. */
    sends?: readonly HeaderName[]
    /** True if the response has an ETag, and `If-None-Match` may answer 304. */
    isConditional?: boolean
    example?: RouteExample
  }
}
