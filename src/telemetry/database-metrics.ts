import { Gauge, type Registry } from 'prom-client'
import type { Servers } from '../database/inspect.ts'
import type { PoolUsage } from '../database/pool/pool.ts'
import type { Backlog } from '../domain/sale/report/count-backlog.ts'
import { withTimeout } from '../shared/timers.ts'

/** Reads a value at most once in `everyMs`, one read at a time, for any number of callers. Resolves to null if
 *  the read fails, or takes longer than `timeoutMs`: it then goes on for later callers. */
export function sampled<Value>(
  read: () => Promise<Value>,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): () => Promise<Value | null> {
  let last: Promise<Value | null> = Promise.resolve(null)
  let dueAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now >= dueAt) {
      dueAt = Number.POSITIVE_INFINITY
      const end = () => {
        dueAt = now + everyMs
      }
      last = read()
        .catch(() => null)
        .finally(end)
    }
    return withTimeout(timeoutMs, last, () => null)
  }
}

export type DatabaseSources = {
  poolUsage(): Record<string, PoolUsage>
  /** Reports whether the database answers, accepts writes and is migrated. */
  isReady(): Promise<boolean>
  /** Counts what waits for a background job. */
  countBacklog(): Promise<Backlog>
  /** Asks each server of a cluster, or the one PostgreSQL. */
  inspectServers(): Promise<Servers>
}

// Each process asks the database at most this often, however often it is scraped, and a scrape waits no longer
// than the timeout: without an answer, these gauges are absent from it.
const limits = { everyMs: 10_000, timeoutMs: 2_000 }

/** Values of the labels of a gauge, and its value with them. */
type Sample = [labels: string[], value: number]

const samplesOf = (counts: Record<string, number | undefined>, ...labels: string[]): Sample[] =>
  Object.entries(counts).flatMap(([label, count]): Sample[] =>
    count === undefined ? [] : [[[...labels, label], count]],
  )

/** Registers gauges of connections, and of what the database says. All processes see the same database, so
 *  that of several processes the highest value counts, not the sum. */
export function addDatabaseMetrics(
  registers: Registry[],
  { poolUsage, isReady, countBacklog, inspectServers }: DatabaseSources,
): void {
  const gaugeOf = (
    name: string,
    help: string,
    labelNames: string[],
    aggregator: 'sum' | 'min' | 'max',
    read: () => Sample[] | Promise<Sample[]>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      aggregator,
      registers,
      async collect() {
        const samples = await read()
        this.reset()
        for (const [labels, value] of samples) this.labels(...labels).set(value)
      },
    })

  const ofPools = (valuesOf: (usage: PoolUsage) => Record<string, number>) => () =>
    Object.entries(poolUsage()).flatMap(([database, usage]) => samplesOf(valuesOf(usage), database))
  gaugeOf(
    'boxoffice_pool_connections',
    'Open connections: idle, running statements, or reserved by a transaction',
    ['database', 'state'],
    'sum',
    ofPools(({ idle, busy, reserved }) => ({ idle, busy, reserved })),
  )
  gaugeOf(
    'boxoffice_pool_waiting',
    'Statements and transactions that wait for a connection',
    ['database', 'kind'],
    'sum',
    ofPools(({ waitingStatements: statement, waitingTransactions: transaction }) => ({
      statement,
      transaction,
    })),
  )
  gaugeOf('boxoffice_pool_max_connections', 'Connections that the pool may open', ['database'], 'sum', () =>
    Object.entries(poolUsage()).map(([database, { max }]) => [[database], max]),
  )

  const ready = sampled(isReady, limits)
  gaugeOf(
    'boxoffice_database_ready',
    '1 if the database answers, accepts writes and is migrated',
    [],
    'min',
    async () => [[[], (await ready()) ? 1 : 0]],
  )
  const servers = sampled(inspectServers, limits)
  const serversGauge = (name: string, help: string, value: keyof Servers) =>
    gaugeOf(name, help, [], 'max', async () => {
      const found = await servers()
      return found ? [[[], found[value]]] : []
    })
  serversGauge(
    'boxoffice_shards_unreachable',
    'Parts of the tables of sales on servers of a cluster that are out of reach',
    'unreachableShards',
  )
  serversGauge(
    'boxoffice_prepared_transactions',
    'Transactions that have been prepared for more than a minute, and hold their locks',
    'preparedTransactions',
  )
  const backlog = sampled(countBacklog, limits)
  const backlogGauge = (
    name: string,
    help: string,
    label: string,
    valuesOf: (backlog: Backlog) => Record<string, number | undefined>,
  ) =>
    gaugeOf(name, help, [label], 'max', async () => {
      const counted = await backlog()
      return counted ? samplesOf(valuesOf(counted)) : []
    })
  const ofQueues = (column: 'due' | 'late' | 'dead') => (backlog: Backlog) =>
    Object.fromEntries(Object.entries(backlog).map(([queue, counts]) => [queue, counts[column]]))
  const atMost = 'at most 10000'
  backlogGauge('boxoffice_jobs_due', `Jobs that are due, ${atMost}`, 'queue', ofQueues('due'))
  backlogGauge('boxoffice_jobs_late', `Jobs due for more than a minute, ${atMost}`, 'queue', ofQueues('late'))
  backlogGauge('boxoffice_jobs_dead', `Jobs that were given up, ${atMost}`, 'queue', ofQueues('dead'))
  backlogGauge(
    'boxoffice_payments',
    `Payments that hold places, ${atMost} together`,
    'status',
    ({ holds }) => ({ pending: holds?.pending, processing: holds?.processing }),
  )
  backlogGauge(
    'boxoffice_refunds',
    `Refunds that are not done, ${atMost} of each status`,
    'status',
    ({ refunds }) => ({ pending: refunds?.pending, failed: refunds?.dead }),
  )
}
