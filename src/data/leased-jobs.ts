import { type SQL, sql } from 'drizzle-orm'
import { integer, type PgColumn, type PgTable, text } from 'drizzle-orm/pg-core'
import { inSeconds, nowMs } from '../database/clock.ts'
import { timestampMs } from '../database/columns.ts'
import type { Database } from '../database/database.ts'
import { groupBy } from '../shared/group-by.ts'
import { findEverywhere } from './by-organization.ts'

/** Columns that make a table a job queue. A row is a job while its status is `pending`. */
export const dueColumns = () => ({
  /** Number of times the job was started. */
  attempts: integer().notNull().default(0),
  /** Time of the next attempt. Claiming a job moves this to the end of the lease, so that another process
   *  takes over if this one dies. */
  dueAt: timestampMs('due_at').notNull().defaultNow(),
  /** Code or status of the last failure. Never personal data. */
  lastError: text('last_error'),
})

type DueTable = PgTable & Record<'organizationId' | 'id' | 'status' | 'dueAt' | 'attempts', PgColumn>

/** Finds up to `limit` rows of any organizations that are due since `dueAt`, longest overdue first: their organization,
 *  and their `id` if that column is named. */
export async function findDue(
  db: Database,
  table: PgTable & { organizationId: PgColumn },
  dueAt: PgColumn,
  isDue: SQL,
  limit: number,
  id: PgColumn | SQL = sql`''`,
): Promise<{ id: string; organizationId: string }[]> {
  const found = await findEverywhere<{ id: string; organizationId: string; since: number }>(
    db,
    table.organizationId,
    (isAsked) => sql`
      select ${id} as id, ${table.organizationId} as "organizationId", extract(epoch from ${dueAt})::float8 as since
      from ${table} where ${isAsked} and ${isDue} order by ${dueAt} limit ${limit}`,
  )
  return found.sort((one, other) => one.since - other.since).slice(0, limit)
}

/** Claims rows of the organizations of due ones, as many of each as were found, with a statement for each: no
 *  statement locks rows of several. */
export async function claimByOrganization<Row>(
  found: { organizationId: string }[],
  claim: (organizationId: string, limit: number) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const claimed: Row[] = []
  for (const [organizationId, own] of groupBy(found, ({ organizationId }) => organizationId))
    claimed.push(...(await claim(organizationId, own.length)))
  return claimed
}

/** Claims up to `limit` due rows, longest overdue first, under a lease of `leaseSeconds`. Until the lease
 *  ends, no other process claims them. Rows that are locked are skipped. Returns the claimed rows. */
export async function claimDue<Table extends DueTable>(
  db: Database,
  table: Table,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<Table['$inferSelect'][]> {
  const isDue = sql`${table.status} = 'pending' and ${table.dueAt} <= ${nowMs}`
  return claimByOrganization(await findDue(db, table, table.dueAt, isDue, limit), (organizationId, limit) => {
    const isOfOrganization = sql`${table.organizationId} = ${organizationId}`
    // An array, so that the subquery runs once.
    const free = sql`array(select ${table.id} from ${table} where ${isOfOrganization} and ${isDue}
      order by ${table.dueAt} limit ${limit} for update skip locked)`
    return db
      .update(table)
      .set({ attempts: sql`${table.attempts} + 1`, dueAt: inSeconds(leaseSeconds) } as never)
      .where(sql`${isOfOrganization} and ${table.id} = any(${free})`)
      .returning() as unknown as Promise<Table['$inferSelect'][]>
  })
}

/** Seconds until the next attempt: exponential from `first` to `max`, with jitter in the upper half, so that
 *  jobs that failed together are not retried together. */
export const backoff = (attempts: number, { first, max }: { first: number; max: number }): number =>
  Math.min(max, first * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)
