import { type Context, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerSpanOf } from '../http/request-id.ts'
import { contextBelow, type Tracing } from './tracing.ts'

// Asked every few seconds by load balancers.
const untraced = new Set(['/health', '/ready'])

/** Runs each request in a span below its caller's (`traceparent`), and names its trace in the log line. A span
 *  has the route and never the URL, which may contain a payment page's token. */
export function traceRequests(app: FastifyInstance, { spans }: Tracing): void {
  const traced = new WeakMap<FastifyRequest, { span: Span; inside: Context }>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, routeOptions } = request
    const { url: route } = routeOptions
    if (route !== undefined && untraced.has(route)) return done()
    const caller = callerSpanOf(headers)
    const attributes = { 'http.request.method': method, ...(route !== undefined && { 'http.route': route }) }
    const name = route === undefined ? method : `${method} ${route}`
    const parent = contextBelow(caller, headers.tracestate)
    const span = spans.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
    const inside = trace.setSpan(parent, span)
    traced.set(request, { span, inside })
    const { traceId, spanId } = span.spanContext()
    request.trace = { trace_id: traceId, span_id: spanId, ...(caller && { parent_id: caller.spanId }) }
    context.with(inside, done)
  })
  // The body is read by events of the socket, which know nothing of the request's context.
  app.addHook('preValidation', (request, _reply, done) => {
    const known = traced.get(request)
    if (known) context.with(known.inside, done)
    else done()
  })
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const span = traced.get(request)?.span
    if (!span) return done()
    const { operation, logged } = request
    span.setAttribute('http.response.status_code', statusCode)
    if (operation !== null) span.setAttribute('boxoffice.operation', operation)
    const [code = statusCode >= 500 ? String(statusCode) : undefined] = logged?.codes ?? []
    if (code !== undefined) span.setAttribute('error.type', code)
    if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
    done()
  })
}
