import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { durationOf } from '../http/request-log.ts'
import type { Observer } from '../shared/instruments.ts'
import { addDatabaseMetrics, type DatabaseSources } from './database-metrics.ts'

/** A finished request. Each label has few values, whatever clients send. */
type Answered = {
  method: string
  route: string
  /** Label of the GraphQL operation; empty for other requests. */
  operation: string
  status: number
  /** Code of the first error; `NONE` without one. */
  code: string
  seconds: number
  /** True for an event stream, whose length says nothing about speed. */
  isStream: boolean
}

export type Metrics = Observer & {
  registry: Registry
  onAnswered(request: Answered): void
}

const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 16]

/** Creates the metrics of this process: Node's, those of its work, and those that are read from the database
 *  when they are asked for. */
export function createMetrics(sources: DatabaseSources): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addDatabaseMetrics(registers, sources)
  // Divides what several processes behind one port add up to.
  new Gauge({ name: 'boxoffice_processes', help: 'Processes behind this port', registers }).set(1)
  const requests = new Counter({
    name: 'boxoffice_requests_total',
    help: 'Requests answered, by route, GraphQL operation, HTTP status and first error code',
    labelNames: ['method', 'route', 'operation', 'status', 'code'],
    registers,
  })
  const latency = new Histogram({
    name: 'boxoffice_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer, without event streams',
    labelNames: ['method', 'route', 'operation'],
    buckets: latencyBuckets,
    registers,
  })
  const waiting = new Gauge({
    name: 'boxoffice_batch_waiting',
    help: 'Jobs that wait to be written together',
    labelNames: ['queue'],
    registers,
  })
  const batches = new Histogram({
    name: 'boxoffice_batch_size',
    help: 'Jobs written together',
    labelNames: ['queue'],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  })
  const lookups = new Counter({
    name: 'boxoffice_cache_lookups_total',
    help: 'Keys looked up in a cache',
    labelNames: ['cache', 'result'],
    registers,
  })
  const changes = new Counter({
    name: 'boxoffice_changes_total',
    help: 'Changes of payments, tickets and rates that this process has committed',
    labelNames: ['type', 'mode'],
    registers,
  })
  const jobs = new Histogram({
    name: 'boxoffice_job_duration_seconds',
    help: 'Runs of background jobs',
    labelNames: ['name', 'outcome'],
    buckets: [0.01, 0.1, 1, 10, 60],
    registers,
  })
  for (const queue of ['holds', 'payments']) {
    waiting.set({ queue }, 0)
    batches.zero({ queue })
  }
  return {
    registry,
    onAnswered({ method, route, operation, status, code, seconds, isStream }) {
      requests.inc({ method, route, operation, status, code })
      if (!isStream) latency.observe({ method, route, operation }, seconds)
    },
    onWaiting: (queue, change) => waiting.inc({ queue }, change),
    onBatch: (queue, size) => batches.observe({ queue }, size),
    onCache(cache, hits, misses) {
      if (hits > 0) lookups.inc({ cache, result: 'hit' }, hits)
      if (misses > 0) lookups.inc({ cache, result: 'miss' }, misses)
    },
    onChanges(committed) {
      for (const { type, mode = 'live' } of committed) changes.inc({ type, mode })
    },
    onJob: (name, seconds, isOk) => jobs.observe({ name, outcome: isOk ? 'done' : 'failed' }, seconds),
  }
}

/** Counts each request once it is answered. */
export function observeRequests(app: FastifyInstance, { onAnswered }: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, operation, logged } = request
    const { url: route } = routeOptions
    onAnswered({
      // Any method is answered at a path that does not exist.
      ...(route === undefined ? { method: 'any', route: 'unknown' } : { method, route }),
      operation: operation ?? '',
      status: reply.statusCode,
      code: logged?.codes?.[0] ?? 'NONE',
      seconds: durationOf(request, reply) / 1000,
      isStream: operation?.startsWith('subscription ') ?? false,
    })
    done()
  })
}
