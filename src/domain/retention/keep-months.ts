import type { RetentionConfig } from '../../config/retention.ts'
import type { Connection, Database } from '../../database/database.ts'
import {
  endOf,
  lockTimeout,
  type MonthlyTable,
  makeMonths,
  monthAfter,
  monthlyTables,
  type Partition,
  partitionsQuery,
} from '../../database/months.ts'
import { runSql } from '../../database/run-sql.ts'

export type MonthsOptions = {
  db: Database
  settings: RetentionConfig
  /** Reports partitions that were made or dropped. */
  onDone?: (facts: Record<string, string>) => void
}

const turnSeconds = 3_600
const pauseSeconds = 60

// One month of changes may be millions of rows.
const keepingMinutes = 30

// Rows for which a partition is kept, however old it is: what waits, and changes while deliveries of them are
// listed. A webhook that is disabled hears of nothing that old: the feed has it.
const waiting: { [Table in MonthlyTable]?: (partition: Partition) => string } = {
  webhook_deliveries: ({ name }) => `select true from ${name} as delivery
    join webhooks on webhooks.id = webhook_id where delivery.status = 'pending' and webhooks.status = 'enabled'`,
  changes: (partition) => `select true from ${partition.name} where feed_position is null
    union all select true from webhook_deliveries where change_id < ${endOf(partition)}`,
}

// Statements that keep a part of dropped changes: where each audience's feed ended, and sequence numbers of
// subjects that are still there and have no later change. Safe to repeat.
const kept: { [Table in MonthlyTable]?: (partition: Partition) => string[] } = {
  changes: (partition) => [
    `insert into dropped_changes (organization_id, mode, audience, feed_position, id)
      select distinct on (organization_id, mode, coalesce(channel_id, ''))
        organization_id, mode, coalesce(channel_id, ''), feed_position, id
      from ${partition.name} where feed_position is not null
      order by organization_id, mode, coalesce(channel_id, ''), feed_position desc
      on conflict (organization_id, mode, audience) do update
        set feed_position = excluded.feed_position, id = excluded.id
        where dropped_changes.feed_position < excluded.feed_position`,
    `insert into dropped_sequences (organization_id, subject_id, sequence)
      select organization_id, subject_id, max(sequence) from ${partition.name} as gone
      where (${['payments', 'tickets', 'stock']
        .map(
          (table) => `exists (select from ${table}
            where ${table}.organization_id = gone.organization_id and ${table}.id = gone.subject_id)`,
        )
        .join(' or ')})
        and not exists (select from changes as later where later.organization_id = gone.organization_id
          and later.subject_id = gone.subject_id and later.id >= ${endOf(partition)})
      group by organization_id, subject_id
      on conflict (subject_id, organization_id) do update
        set sequence = greatest(dropped_sequences.sequence, excluded.sequence)`,
  ],
}

async function waits(db: Connection, partition: Partition): Promise<boolean> {
  const query = waiting[partition.table]?.(partition)
  if (query === undefined) return false
  const [found] = await runSql<{ waits: boolean }>(db, `select exists (${query}) as waits`)
  return found?.waits === true
}

// Drops a partition, unless something in it waits. Returns whether it did. The lock on the partition keeps a
// delivery from being sent again meanwhile; whoever waits for that of the drop waits half a second at most.
async function drop(db: Database, partition: Partition): Promise<boolean> {
  if (await waits(db, partition)) return false
  const keeping = kept[partition.table]?.(partition) ?? []
  if (keeping.length > 0)
    await db.transaction(async (tx) => {
      await runSql(tx, `set local statement_timeout = '${keepingMinutes}min'`)
      for (const statement of keeping) await runSql(tx, statement)
    })
  return db.transaction(async (tx) => {
    await runSql(tx, `set local lock_timeout = '${lockTimeout}'`)
    await runSql(tx, `lock table ${partition.name} in share mode`)
    if (await waits(tx, partition)) return false
    await runSql(tx, `drop table ${partition.name}`)
    return true
  })
}

// Months or days that rows are kept for; for ever if null.
const keptFor = (
  settings: RetentionConfig,
): Record<MonthlyTable, { months: number | null } | { days: number | null }> => ({
  changes: { months: settings.retainChangeMonths },
  check_ins: { months: settings.retainCheckInMonths },
  webhook_deliveries: { days: settings.retainWebhookDays },
  provider_events: { days: settings.retainProviderEventDays },
})

/** Time at which all rows of a partition have been kept for long enough, in milliseconds since 1970. */
function oldAt({ table, lastMonth }: Partition, settings: RetentionConfig): number {
  const { months, days } = { months: 0, days: 0, ...keptFor(settings)[table] }
  if (months === null || days === null) return Number.POSITIVE_INFINITY
  return monthAfter(lastMonth, 1 + months).getTime() + days * 86_400_000
}

/** Makes the partitions of the next months, and drops those that are older than is kept, each in a transaction
 *  of its own: nothing that waits for somebody. Throws 55P03 where a lock was not to be had: what is missing is
 *  done by the next turn (DECISIONS 170). */
export async function keepMonths({ db, settings, onDone = () => {} }: MonthsOptions): Promise<void> {
  for (const name of await makeMonths((statement) => runSql(db, statement))) onDone({ made: name })
  const partitions = await runSql<Partition>(db, partitionsQuery)
  const [clock] = await runSql<{ now: number }>(
    db,
    'select (extract(epoch from now()) * 1000)::float8 as now',
  )
  for (const table of monthlyTables)
    for (const partition of partitions.filter((each) => each.table === table))
      if (oldAt(partition, settings) <= (clock?.now ?? 0) && (await drop(db, partition)))
        onDone({ dropped: partition.name })
}

/** Creates the job that keeps the partitions. It may be called every second: it works once an hour, and where
 *  that fails, a minute later again. */
export function createMonthKeeper(options: MonthsOptions): () => Promise<void> {
  let nextAt = 0
  return async () => {
    const now = performance.now()
    if (now < nextAt) return
    nextAt = now + pauseSeconds * 1000
    await keepMonths(options)
    nextAt = now + turnSeconds * 1000
  }
}
