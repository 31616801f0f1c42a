import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { instruments } from '../shared/instruments.ts'
import type { DatabaseSources } from './database-metrics.ts'

type Log = { info(message: string): void; warn(message: string): void }

/** Metrics and traces of a process; neither unless its settings ask for them. */
export type Telemetry = {
  /** Adds their hooks to the application. */
  instrument(app: FastifyInstance): void
  /** Serves `/metrics`. In a worker of a cluster it answers the primary instead, which serves it for all. */
  listen(log: Log): Promise<void>
  /** Closes the port of the metrics, and sends the last spans. */
  close(): Promise<void>
}

/** Turns on what the settings ask for. Modules are imported on demand: what is off is not even loaded. */
export async function openTelemetry(
  config: Pick<Config, 'host' | 'metricsPort' | 'hasTraces' | 'webConcurrency'>,
  sources: DatabaseSources,
): Promise<Telemetry> {
  const { host, metricsPort, hasTraces, webConcurrency } = config
  const hooks: ((app: FastifyInstance) => void)[] = []
  let listen: Telemetry['listen'] = async () => {}
  let log: Log | undefined
  const closing: (() => unknown)[] = []
  if (hasTraces) {
    const { startTracing, traceRequests } = await import('./tracing.ts')
    const tracing = startTracing(() => log?.warn('spans could not be sent to the collector'))
    instruments.tracer = tracing.tracer
    hooks.push((app) => traceRequests(app, tracing))
    closing.push(() => tracing.close())
  }
  if (metricsPort !== undefined) {
    const { createMetrics, observeRequests } = await import('./metrics.ts')
    const metrics = createMetrics(sources)
    const { registry } = metrics
    instruments.observer = metrics
    hooks.push((app) => observeRequests(app, metrics))
    listen = async (log) => {
      if (webConcurrency > 1) {
        const { answerPrimary } = await import('./cluster-metrics.ts')
        return answerPrimary(registry)
      }
      const { serveMetrics } = await import('./metrics-server.ts')
      closing.push(await serveMetrics({ host, metricsPort }, () => registry.metrics(), log))
    }
  }
  return {
    instrument(app) {
      for (const add of hooks) add(app)
    },
    listen(given) {
      log = given
      return listen(given)
    },
    async close() {
      await Promise.all(closing.map((close) => close()))
    },
  }
}
