import { randomUUID } from 'node:crypto'
import {
  type Context,
  context,
  DiagLogLevel,
  diag,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer as SpanTracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errorCode, Refusal } from '../base/errors.ts'
import type { Tracer } from '../base/instruments.ts'
import { service } from '../base/service.ts'
import { withTimeout } from '../base/timers.ts'

const closeMs = 2_000
// Minimum interval between two reports that spans are lost.
const reportMs = 60_000

// A refusal is an answer and no failure. Of other errors only the code is told: messages may quote values.
function end(span: Span, error?: unknown): void {
  if (error instanceof Refusal) span.setAttribute('error.type', error.code)
  else if (error !== undefined) {
    span.setAttribute('error.type', errorCode(error) ?? 'INTERNAL')
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

const recording = (span: Span | undefined): Span | undefined => (span?.isRecording() ? span : undefined)

/** Runs work in a span that is active, and ends it. */
const workIn =
  <Result>(work: () => Promise<Result>) =>
  async (span: Span): Promise<Result> => {
    try {
      const result = await work()
      end(span)
      return result
    } catch (error) {
      end(span, error)
      throw error
    }
  }

const createTracer = (spans: SpanTracer): Tracer => ({
  inSpan(name, attributes, work) {
    const parent = context.active()
    if (!recording(trace.getSpan(parent))) return work()
    return spans.startActiveSpan(name, { attributes }, parent, workIn(work))
  },
  origin: () => recording(trace.getActiveSpan()),
  inBatch(name, origins, work) {
    const [first, ...others] = new Set(origins.filter((origin) => origin !== undefined) as Span[])
    // Without a request of its own it must not run as part of another's.
    if (!first) return context.with(ROOT_CONTEXT, work)
    const options = {
      attributes: { [`${service.name}.batch.size`]: origins.length },
      links: others.map((span) => ({ context: span.spanContext() })),
    }
    return spans.startActiveSpan(name, options, trace.setSpan(ROOT_CONTEXT, first), workIn(work))
  },
  detached: (work) => context.with(ROOT_CONTEXT, work),
})

/** Starts the OpenTelemetry SDK, which reads its standard environment variables by itself. Spans are sent in
 *  batches; if the collector is away, those beyond the SDK's queue are dropped, and `onLoss` is called once a
 *  minute. `close` sends the spans that are left, and waits two seconds for it at most. */
export function startTracing(onLoss: () => void) {
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = () => {
    if (performance.now() - reportedAt < reportMs) return
    reportedAt = performance.now()
    onLoss()
  }
  const ignore = () => {}
  diag.setLogger(
    { error: report, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  )
  const attributes = { 'service.name': service.name, 'service.instance.id': randomUUID() }
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(attributes))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  const spans = provider.getTracer(service.name)
  return {
    tracer: createTracer(spans),
    spans,
    close: () => withTimeout(closeMs, provider.shutdown().catch(ignore), ignore),
  }
}

// Asked every few seconds by load balancers.
const untraced = new Set(['/health', '/ready'])

/** Runs each request in a span below its caller's (`traceparent`), and names its trace in the log line. A span
 *  has the route and never the URL, which may contain a secret token. */
export function traceRequests(app: FastifyInstance, spans: SpanTracer): void {
  const traced = new WeakMap<FastifyRequest, { span: Span; inside: Context }>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, routeOptions } = request
    const { url: route } = routeOptions
    if (route !== undefined && untraced.has(route)) return done()
    const parent = propagation.extract(ROOT_CONTEXT, headers)
    const caller = trace.getSpanContext(parent)
    const attributes = { 'http.request.method': method, ...(route !== undefined && { 'http.route': route }) }
    const name = route === undefined ? method : `${method} ${route}`
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
    if (operation !== null) span.setAttribute(`${service.name}.operation`, operation)
    const [code = statusCode >= 500 ? String(statusCode) : undefined] = logged?.codes ?? []
    if (code !== undefined) span.setAttribute('error.type', code)
    if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
    done()
  })
}
