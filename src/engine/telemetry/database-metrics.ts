import { Gauge, type Registry } from 'prom-client'
import { service } from '../base/service.ts'
import { withTimeout } from '../base/timers.ts'
import type { Servers } from '../database/inspect.ts'
import type { PoolUsage } from '../database/pool/pool.ts'

// Each process asks the database at most this often, however often it is scraped, and a scrape waits no longer
// than the timeout: without an answer, these gauges are absent from it.
const limits = { everyMs: 10_000, timeoutMs: 2_000 }

/** Reads a value at most once in `everyMs`, one read at a time, for any number of callers. Resolves to null if
 *  the read fails, or takes longer than `timeoutMs`: it then goes on for later callers. */
export function sampled<Value>(read: () => Promise<Value>, { everyMs, timeoutMs }: typeof limits) {
  let last: Promise<Value | null> = Promise.resolve(null)
  let dueAt = Number.NEGATIVE_INFINITY
  return (): Promise<Value | null> => {
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

/** Gauge of the product with one label, of what is counted together. */
export type CountGauge<Counts> = {
  name: string
  help: string
  label: string
  /** Values by those of the label; absent where undefined. */
  of(counts: Counts): Record<string, number | undefined>
}

export type DatabaseSources<Counts> = {
  poolUsage(): Record<string, PoolUsage>
  /** Reports whether the database answers, accepts writes and is migrated. */
  isReady(): Promise<boolean>
  /** Counts what the gauges tell. */
  count(): Promise<Counts>
  gauges: readonly CountGauge<Counts>[]
  /** Texts of the product in place of those of `helpOf`. */
  help: Partial<typeof helpOf>
  /** Asks each server of a cluster, or the one PostgreSQL. */
  inspectServers(): Promise<Servers>
}

/** Values of the labels of a gauge, and its value with them. */
type Sample = [labels: string[], value: number]

const samplesOf = (counts: Record<string, number | undefined>, ...labels: string[]): Sample[] =>
  Object.entries(counts).flatMap(([label, count]): Sample[] =>
    count === undefined ? [] : [[[...labels, label], count]],
  )

const helpOf = {
  pool_connections: 'Open connections: idle, running statements, or reserved by a transaction',
  pool_waiting: 'Statements and transactions that wait for a connection',
  pool_max_connections: 'Connections that the pool may open',
  replica_read: '1 if shared reads go to this replica, 0 if the primary answers for it',
  database_ready: '1 if the database answers, accepts writes and is migrated',
  shards_unreachable: 'Parts of the distributed tables on servers of a cluster that are out of reach',
  prepared_transactions: 'Transactions that have been prepared for more than a minute, and hold their locks',
}

/** Registers gauges of connections, and of what the database says. All processes see the same database, so
 *  that of several processes the highest value counts, not the sum. */
export function addDatabaseMetrics<Counts>(registers: Registry[], sources: DatabaseSources<Counts>): void {
  const gaugeOf = (
    described: { name: string; help: string },
    labelNames: string[],
    aggregator: 'sum' | 'min' | 'max',
    read: () => Sample[] | Promise<Sample[]>,
  ) =>
    new Gauge({
      ...{ ...described, labelNames, aggregator, registers },
      async collect() {
        const samples = await read()
        this.reset()
        for (const [labels, value] of samples) this.labels(...labels).set(value)
      },
    })
  const named = (name: keyof typeof helpOf) => ({
    name: `${service.name}_${name}`,
    help: sources.help[name] ?? helpOf[name],
  })

  const ofPools = (valuesOf: (usage: PoolUsage) => Record<string, number>) => () =>
    Object.entries(sources.poolUsage()).flatMap(([database, usage]) => samplesOf(valuesOf(usage), database))
  const connectionsOf = ({ idle, busy, reserved }: PoolUsage) => ({ idle, busy, reserved })
  const waitingFor = ({ waitingStatements: statement, waitingTransactions: transaction }: PoolUsage) => ({
    statement,
    transaction,
  })
  gaugeOf(named('pool_connections'), ['database', 'state'], 'sum', ofPools(connectionsOf))
  gaugeOf(named('pool_waiting'), ['database', 'kind'], 'sum', ofPools(waitingFor))
  gaugeOf(named('pool_max_connections'), ['database'], 'sum', () =>
    Object.entries(sources.poolUsage()).map(([database, { max }]) => [[database], max]),
  )
  gaugeOf(named('replica_read'), ['database'], 'min', () =>
    Object.entries(sources.poolUsage()).flatMap(([database, { isRead }]): Sample[] =>
      isRead === undefined ? [] : [[[database], Number(isRead)]],
    ),
  )

  const ready = sampled(sources.isReady, limits)
  gaugeOf(named('database_ready'), [], 'min', async () => [[[], Number((await ready()) ?? 0)]])

  const servers = sampled(sources.inspectServers, limits)
  const ofServers = (value: keyof Servers) => async (): Promise<Sample[]> => {
    const found = await servers()
    return found ? [[[], found[value]]] : []
  }
  gaugeOf(named('shards_unreachable'), [], 'max', ofServers('unreachableShards'))
  gaugeOf(named('prepared_transactions'), [], 'max', ofServers('preparedTransactions'))

  const counted = sampled(sources.count, limits)
  for (const { label, of, ...described } of sources.gauges)
    gaugeOf(described, [label], 'max', async () => {
      const counts = await counted()
      return counts === null ? [] : samplesOf(of(counts))
    })
}
