import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Observer } from '../base/instruments.ts'
import { service } from '../base/service.ts'
import { durationOf } from '../http/request-log.ts'
import { addDatabaseMetrics, type DatabaseSources } from './database-metrics.ts'

const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 16]

const batchSizes = [1, 2, 4, 8, 16, 32, 64]
const jobBuckets = [0.01, 0.1, 1, 10, 60]

const helpOf = {
  processes: 'Processes behind this port',
  requests_total: 'Requests answered, by route, GraphQL operation, HTTP status and first error code',
  request_duration_seconds:
    'Time from the arrival of a request to the end of its answer, without event streams',
  batch_waiting: 'Jobs that wait to be written together',
  batch_size: 'Jobs written together',
  cache_lookups_total: 'Keys looked up in a cache',
  job_duration_seconds: 'Runs of background jobs',
  log_lines_dropped_total: 'Lines of the log that could not be written',
}

/** Sources of metrics, and what the product adds to them. */
export type MetricSources<Counts> = DatabaseSources<Counts> & {
  /** Names of queues of batches, which are there from the start. */
  queues: readonly string[]
  /** Counters of what the product reports by `onCount`. */
  counters: readonly { name: string; help: string; labelNames: readonly string[] }[]
}

/** Creates the metrics of this process: Node's, those of its work, and those that are read from the database
 *  when they are asked for. */
export function createMetrics<Counts>(sources: MetricSources<Counts>) {
  const registry = new Registry()
  const registers = [registry]
  const described = <Label extends string>(name: keyof typeof helpOf, ...labelNames: Label[]) => ({
    name: `${service.name}_${name}`,
    help: helpOf[name],
    labelNames,
    registers,
  })
  collectDefaultMetrics({ register: registry })
  addDatabaseMetrics(registers, sources)
  // Counts the processes behind a port, to divide their sums by.
  new Gauge(described('processes')).set(1)
  const requests = new Counter(described('requests_total', 'method', 'route', 'operation', 'status', 'code'))
  const latency = new Histogram({
    ...described('request_duration_seconds', 'method', 'route', 'operation'),
    buckets: latencyBuckets,
  })
  const waiting = new Gauge(described('batch_waiting', 'queue'))
  const batches = new Histogram({ ...described('batch_size', 'queue'), buckets: batchSizes })
  const lookups = new Counter(described('cache_lookups_total', 'cache', 'result'))
  const counters = new Map(
    sources.counters.map((counter) => [counter.name, new Counter({ ...counter, registers })]),
  )
  const jobs = new Histogram({
    ...described('job_duration_seconds', 'name', 'outcome'),
    buckets: jobBuckets,
  })
  const dropped = new Counter(described('log_lines_dropped_total'))
  for (const queue of sources.queues) {
    waiting.set({ queue }, 0)
    batches.zero({ queue })
  }
  const observer: Observer = {
    onWaiting: (queue, change) => waiting.inc({ queue }, change),
    onBatch: (queue, size) => batches.observe({ queue }, size),
    onCache(cache, hits, misses) {
      if (hits > 0) lookups.inc({ cache, result: 'hit' }, hits)
      if (misses > 0) lookups.inc({ cache, result: 'miss' }, misses)
    },
    onCount: (name, labels) => counters.get(name)?.inc(labels),
    onLogDropped: (lines) => dropped.inc(lines),
    onJob: (name, seconds, isOk) => jobs.observe({ name, outcome: isOk ? 'done' : 'failed' }, seconds),
  }
  return {
    registry,
    ...observer,
    /** Counts each request of an application once it is answered. Each label has few values, whatever clients send. */
    observeRequests(app: FastifyInstance) {
      app.addHook('onResponse', (request, reply, done) => {
        const { operation, logged, routeOptions } = request
        // Any method is answered at a path that does not exist.
        const { url: route = 'unknown' } = routeOptions
        const method = routeOptions.url === undefined ? 'any' : request.method
        const labels = { method, route, operation: operation ?? '' }
        requests.inc({ ...labels, status: reply.statusCode, code: logged?.codes?.[0] ?? 'NONE' })
        // The length of an event stream says nothing about speed.
        if (!operation?.startsWith('subscription '))
          latency.observe(labels, durationOf(request, reply) / 1000)
        done()
      })
    },
  }
}
