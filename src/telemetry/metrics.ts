import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { durationOf } from '../http/request-log.ts'
import type { Observer } from '../shared/instruments.ts'
import { addDatabaseMetrics, type DatabaseSources } from './database-metrics.ts'

const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 16]

/** Creates the metrics of this process: Node's, those of its work, and those that are read from the database
 *  when they are asked for. */
export function createMetrics(sources: DatabaseSources) {
  const registry = new Registry()
  const registers = [registry]
  const counterOf = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogramOf = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets: number[],
  ) => new Histogram({ name, help, labelNames, buckets, registers })
  collectDefaultMetrics({ register: registry })
  addDatabaseMetrics(registers, sources)
  // Counts the processes behind a port, to divide their sums by.
  new Gauge({ name: 'boxoffice_processes', help: 'Processes behind this port', registers }).set(1)
  const requests = counterOf(
    'boxoffice_requests_total',
    'Requests answered, by route, GraphQL operation, HTTP status and first error code',
    ['method', 'route', 'operation', 'status', 'code'],
  )
  const latency = histogramOf(
    'boxoffice_request_duration_seconds',
    'Time from the arrival of a request to the end of its answer, without event streams',
    ['method', 'route', 'operation'],
    latencyBuckets,
  )
  const waiting = new Gauge({
    name: 'boxoffice_batch_waiting',
    help: 'Jobs that wait to be written together',
    labelNames: ['queue'],
    registers,
  })
  const batchSizes = [1, 2, 4, 8, 16, 32, 64]
  const batches = histogramOf('boxoffice_batch_size', 'Jobs written together', ['queue'], batchSizes)
  const lookups = counterOf('boxoffice_cache_lookups_total', 'Keys looked up in a cache', ['cache', 'result'])
  const changes = counterOf(
    'boxoffice_changes_total',
    'Changes of payments, tickets and rates that this process has committed',
    ['type', 'mode'],
  )
  const jobs = histogramOf(
    'boxoffice_job_duration_seconds',
    'Runs of background jobs',
    ['name', 'outcome'],
    [0.01, 0.1, 1, 10, 60],
  )
  for (const queue of ['holds', 'payments', 'check-ins']) {
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
    onChanges(committed) {
      for (const { type, mode = 'live' } of committed) changes.inc({ type, mode })
    },
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
