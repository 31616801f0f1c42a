import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Rules for pages whose credentials are no secret. */
export type PublicCors = {
  /** Reports whether pages of this origin may send public credentials at all. */
  isKnown(origin: string): Promise<boolean>
  /** Reports whether the credentials of a request are public. */
  isPublic(request: FastifyRequest): boolean
}

/** Response header with the cost of a GraphQL operation. */
export const costHeader = 'x-operation-cost'

/** Response headers that pages may read. */
export const exposedHeaders = [
  ...['etag', 'link', 'retry-after', 'idempotent-replayed', 'x-request-id', costHeader],
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
]

/** Time for which a browser may remember a preflight. Short, so that a revoked origin is soon forgotten. */
export const maxAgeSeconds = 600

const allowedHeaders = [
  'x-api-key',
  'content-type',
  'accept',
  'idempotency-key',
  'if-none-match',
  'last-event-id',
  'x-request-id',
  // Tracing, error reports and GraphQL clients of pages send these by themselves.
  ...['traceparent', 'tracestate', 'baggage', 'sentry-trace'],
  ...['apollographql-client-name', 'apollographql-client-version', 'apollo-require-preflight'],
  ...['x-apollo-operation-name', 'x-apollo-operation-type'],
]

// No page has a longer one, because a host name has at most 253 characters.
const maxOriginCharacters = 300

/** Declares that an answer depends on one more header of the request. */
export const addVary = (reply: FastifyReply, name: string): void => {
  reply.header('vary', [reply.getHeader('vary'), name].filter(Boolean).join(', '))
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

/** Answers preflights from known origins, and lets pages of them read the answers to requests with public
 *  credentials, each with exactly its own origin and never with cookies. A request of a known origin with any
 *  other credentials is answered without these headers, so that no browser shows the answer to the page.
 *  Origins in `except` are left to their own rules. Costs no more SQL than `isKnown` does. */
export function addPublicCors(app: FastifyInstance, except: string[], { isKnown, isPublic }: PublicCors) {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    if (origin === undefined || except.includes(origin)) return
    if (!isPreflight(request) && !isPublic(request)) return
    addVary(reply, 'Origin')
    if (origin.length > maxOriginCharacters || !(await isKnown(origin))) return
    reply.header('access-control-allow-origin', origin)
    if (!isPreflight(request)) {
      reply.header('access-control-expose-headers', exposedHeaders.join(', '))
      return
    }
    reply.headers({
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': allowedHeaders.join(', '),
      'access-control-max-age': maxAgeSeconds,
    })
    return reply.code(204).send()
  })
}
