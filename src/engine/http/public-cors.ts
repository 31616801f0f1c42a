import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Response header with the cost of a GraphQL operation. */
export const costHeader = 'x-operation-cost'

/** Response headers that pages may read. */
const exposedHeaders = [
  ...['etag', 'link', 'retry-after', 'idempotent-replayed', 'x-request-id', costHeader],
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
].join(', ')

/** Time for which a browser may remember a preflight. Short, so that a revoked origin is soon forgotten. */
const maxAgeSeconds = 600

const allowedHeaders = [
  ...['x-api-key', 'content-type', 'accept', 'idempotency-key', 'if-none-match', 'last-event-id'],
  'x-request-id',
  // Tracing, error reports and GraphQL clients of pages send these by themselves.
  ...['traceparent', 'tracestate', 'baggage', 'sentry-trace', 'b3', 'newrelic', 'elastic-apm-traceparent'],
  ...['trace-id', 'parent-id', 'origin', 'sampling-priority', 'tags'].map((name) => `x-datadog-${name}`),
  ...['apollographql-client-name', 'apollographql-client-version', 'apollo-require-preflight'],
  ...['x-apollo-operation-name', 'x-apollo-operation-type'],
].join(', ')

// No page has a longer one, because a host name has at most 253 characters.
const maxOriginCharacters = 300

/** Declares that an answer depends on one more header of the request. */
export const addVary = (reply: FastifyReply, name: string): void => {
  reply.header('vary', [reply.getHeader('vary'), name].filter(Boolean).join(', '))
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

/** Answers preflights, and lets pages of known origins read the answers to requests with public credentials, each with
 *  exactly its own origin and never with cookies; those of `trusted` origins to any request. A request of any other
 *  origin, or with other credentials, is answered without these headers, so that no browser shows the answer to the
 *  page. `isKnown` reports whether pages of an origin may send public credentials at all; this costs no more SQL. */
export function addCors(
  app: FastifyInstance,
  trusted: string[],
  isKnown: (origin: string) => Promise<boolean>,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin, 'access-control-request-headers': asked = '' } = request.headers
    const isTrusted = origin !== undefined && trusted.includes(origin)
    const mayDepend = isTrusted || isPreflight(request) || request.credentials.isPublic
    if (trusted.length > 0 || (origin !== undefined && mayDepend)) addVary(reply, 'Origin')
    if (origin === undefined || !mayDepend) return
    const isAllowed = isTrusted || (origin.length <= maxOriginCharacters && (await isKnown(origin)))
    if (isAllowed) reply.header('access-control-allow-origin', origin)
    if (!isPreflight(request)) {
      if (isAllowed) reply.header('access-control-expose-headers', exposedHeaders)
      return
    }
    if (isAllowed)
      reply.headers({
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': isTrusted ? asked : allowedHeaders,
        'access-control-max-age': maxAgeSeconds,
      })
    if (isAllowed || trusted.length > 0) return reply.code(204).send()
  })
}
