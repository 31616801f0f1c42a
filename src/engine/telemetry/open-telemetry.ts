import type { FastifyInstance } from 'fastify'
import { instruments } from '../base/instruments.ts'
import type { HttpConfig } from '../config/http.ts'
import type { TelemetryConfig } from '../config/telemetry.ts'
import type { MetricSources } from './metrics.ts'

/** Turns on the metrics and traces that the settings ask for. Modules are imported on demand: what is off is not even
 *  loaded. */
export async function openTelemetry<Counts>(
  config: HttpConfig & TelemetryConfig,
  sources: MetricSources<Counts>,
) {
  const { host, metricsPort, hasTraces, webConcurrency } = config
  const tracing = hasTraces ? await import('./tracing.ts') : null
  const metrics = metricsPort === undefined ? null : (await import('./metrics.ts')).createMetrics(sources)
  const closing: (() => unknown)[] = []
  return {
    /** Adds their hooks to the application. */
    instrument(app: FastifyInstance) {
      if (tracing) {
        const warn = () => app.log.warn('spans could not be sent to the collector')
        const { tracer, spans, close } = tracing.startTracing(warn)
        instruments.tracer = tracer
        tracing.traceRequests(app, spans)
        closing.push(close)
      }
      if (!metrics) return
      instruments.observer = metrics
      metrics.observeRequests(app)
    },
    /** Serves `/metrics`. In a worker of a cluster it answers the primary instead, which serves it for all. */
    async listen(log: { info(message: string): void }) {
      if (!metrics || metricsPort === undefined) return
      const { registry } = metrics
      if (webConcurrency > 1) return (await import('./cluster-metrics.ts')).answerPrimary(registry)
      const { serveMetrics } = await import('./metrics-server.ts')
      closing.push(await serveMetrics(host, metricsPort, () => registry.metrics(), log))
    },
    /** Closes the port of the metrics, and sends the last spans. */
    close: () => Promise.all(closing.map((close) => close())),
  }
}
