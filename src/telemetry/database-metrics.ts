import { Gauge, type Registry } from 'prom-client'
import type { PoolUsage } from '../database/pool/pool.ts'
import type { Backlog } from '../domain/sale/report/count-backlog.ts'
import { inTime } from '../shared/in-time.ts'

/** Reads a value at most once in `everyMs`, one read at a time, for any number of callers. Resolves to null if
 *  the read fails, or takes longer than `timeoutMs`: it then goes on for later callers. */
export function sampled<Value>(
  read: () => Promise<Value>,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): () => Promise<Value | null> {
  let last: { at: number; read: Promise<Value | null> } | undefined
  let isReading = false
  return () => {
    if (!last || (!isReading && performance.now() - last.at >= everyMs)) {
      isReading = true
      const end = () => {
        isReading = false
      }
      last = {
        at: performance.now(),
        read: read()
          .catch(() => null)
          .finally(end),
      }
    }
    return inTime(timeoutMs, last.read, () => null)
  }
}

export type DatabaseSources = {
  poolUsage(): Record<string, PoolUsage>
  /** Reports whether the database answers, accepts writes and is migrated. */
  isReady(): Promise<boolean>
  /** Counts what waits for a background job. */
  countBacklog(): Promise<Backlog>
}

// Each process asks the database at most this often, however often it is scraped, and a scrape waits no longer
// than the timeout: without an answer, these gauges are absent from it.
const limits = { everyMs: 10_000, timeoutMs: 2_000 }

/** Registers gauges of connections, and of what the database says. All processes see the same database, so
 *  that of several processes the highest value counts, not the sum. */
export function addDatabaseMetrics(
  registers: Registry[],
  { poolUsage, isReady, countBacklog }: DatabaseSources,
): void {
  const usageGauge = (
    name: string,
    help: string,
    label: string,
    valuesOf: (usage: PoolUsage) => Record<string, number>,
  ) =>
    new Gauge({
      ...{ name, help, registers },
      labelNames: ['database', label],
      collect() {
        for (const [database, usage] of Object.entries(poolUsage()))
          for (const [value, count] of Object.entries(valuesOf(usage)))
            this.set({ database, [label]: value }, count)
      },
    })
  usageGauge(
    'boxoffice_pool_connections',
    'Open connections: idle, running statements, or reserved by a transaction',
    'state',
    ({ idle, busy, reserved }) => ({ idle, busy, reserved }),
  )
  usageGauge(
    'boxoffice_pool_waiting',
    'Statements and transactions that wait for a connection',
    'kind',
    ({ waitingStatements, waitingTransactions }) => ({
      statement: waitingStatements,
      transaction: waitingTransactions,
    }),
  )
  new Gauge({
    name: 'boxoffice_pool_max_connections',
    help: 'Connections that the pool may open',
    labelNames: ['database'],
    registers,
    collect() {
      for (const [database, { max }] of Object.entries(poolUsage())) this.set({ database }, max)
    },
  })

  const ready = sampled(isReady, limits)
  new Gauge({
    name: 'boxoffice_database_ready',
    help: '1 if the database answers, accepts writes and is migrated',
    aggregator: 'min',
    registers,
    async collect() {
      this.set((await ready()) ? 1 : 0)
    },
  })
  const backlog = sampled(countBacklog, limits)
  const backlogGauge = (
    name: string,
    help: string,
    label: string,
    valuesOf: (backlog: Backlog) => Record<string, number | undefined>,
  ) =>
    new Gauge({
      ...{ name, help, registers },
      labelNames: [label],
      aggregator: 'max',
      async collect() {
        const counted = await backlog()
        this.reset()
        for (const [value, count] of Object.entries(counted ? valuesOf(counted) : {}))
          if (count !== undefined) this.set({ [label]: value }, count)
      },
    })
  const ofQueues =
    (column: keyof Backlog['queues'][string]) =>
    ({ queues }: Backlog) =>
      Object.fromEntries(Object.entries(queues).map(([queue, counts]) => [queue, counts[column]]))
  const atMost = 'at most 10000'
  backlogGauge('boxoffice_jobs_due', `Jobs that are due, ${atMost}`, 'queue', ofQueues('due'))
  backlogGauge('boxoffice_jobs_late', `Jobs due for more than a minute, ${atMost}`, 'queue', ofQueues('late'))
  backlogGauge('boxoffice_jobs_dead', `Jobs that were given up, ${atMost}`, 'queue', ofQueues('dead'))
  backlogGauge(
    'boxoffice_payments',
    `Payments that hold places, ${atMost} together`,
    'status',
    ({ payments }) => payments,
  )
  backlogGauge(
    'boxoffice_refunds',
    `Refunds that are not done, ${atMost} of each status`,
    'status',
    ({ refunds }) => refunds,
  )
}
