import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Trace, traceOf } from './request-id.ts'

const everyMs = 20

/** Watches the event loop. The returned function tells for how long, in milliseconds, a request whose head is read
 *  now may have waited for the process to read it; it is exact to some 20 ms. `stop` ends the watch. */
function watchEventLoop(): { delay(): number; stop(): void } {
  let dueAt = performance.now() + everyMs
  let late = 0
  const timer = setInterval(() => {
    const now = performance.now()
    late = now - dueAt
    dueAt = now + everyMs
    // After the requests that came while the loop was held up: they are read before immediates run.
    setImmediate(() => {
      late = 0
    })
  }, everyMs).unref()
  return { delay: () => Math.max(late, performance.now() - dueAt, 0), stop: () => clearInterval(timer) }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Facts for the log line of the request; null until its hooks run. */
    logged: LoggedFacts | null
    /** Time for which it may have waited until the process read it, in milliseconds. */
    waitedMs: number
    /** Bounded name of the GraphQL operation, for metrics and spans; null for other requests. */
    operation: string | null
    /** Trace of the request, while traces are on; null otherwise. */
    trace: Trace | null
  }
}

/** Facts of a request that are known once it was authenticated and answered. None of them is personal. The product adds
 *  who called. */
export interface LoggedFacts {
  /** Name of the GraphQL operation. */
  operation?: string
  /** Codes of the errors in the response, each once. */
  codes?: string[]
}

// Levels that leave the line of a request out. Nothing is gathered for it then.
const levelsWithoutLines = new Set(['warn', 'error', 'fatal', 'silent'])

const maxNameLength = 64
const maxCodes = 10

/** Adds the client's name of a GraphQL operation to the log line of a request, 64 characters at most, and its
 *  label to the request's metrics and spans. */
export function logOperation(
  request: FastifyRequest,
  operation: { name: string | undefined; label: string } | null,
): void {
  if (!operation) return
  const { logged } = request
  request.operation = operation.label
  if (logged && operation.name) logged.operation = operation.name.slice(0, maxNameLength)
}

/** Adds the codes of errors to the log line of a request, ten at most. */
export function logCodes({ logged }: FastifyRequest, codes: string[]): void {
  if (logged && codes.length > 0)
    logged.codes = [...new Set([...(logged.codes ?? []), ...codes])].slice(0, maxCodes)
}

/** Time from the arrival of a request, as its client sees it, to the end of its answer, in milliseconds. */
export const durationOf = ({ waitedMs }: FastifyRequest, { elapsedTime }: FastifyReply): number =>
  waitedMs + elapsedTime

/** Logs one line per request, with the route instead of the URL: a URL may contain a secret token or
 *  search text. */
export function logRequests(app: FastifyInstance): void {
  const { delay, stop } = watchEventLoop()
  app.addHook('onClose', async () => stop())
  app.decorateRequest('waitedMs', 0)
  app.decorateRequest('logged', null)
  app.decorateRequest('operation', null)
  app.decorateRequest('trace', null)
  app.addHook('onRequest', (request, reply, done) => {
    request.waitedMs = delay()
    request.logged = {}
    reply.header('x-request-id', request.id)
    done()
  })
  if (levelsWithoutLines.has(app.log.level)) return
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, headers, logged, trace, log } = request
    const route = routeOptions.url ?? 'unknown'
    const answered = { status: reply.statusCode, ms: Math.round(durationOf(request, reply)) }
    log.info({ method, route, ...answered, ...logged, ...(trace ?? traceOf(headers)) }, 'request')
    done()
  })
}
