import { type SQL, sql } from 'drizzle-orm'
import { type AnyPgColumn, integer, type PgColumn, type PgTable, text } from 'drizzle-orm/pg-core'
import { groupBy } from '../base/group-by.ts'
import { inSeconds, nowMs } from '../database/clock.ts'
import { timestampMs } from '../database/columns.ts'
import type { Database } from '../database/database.ts'
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

/** Number of tries from which on a job counts as failing. */
export const triesOfFailing = 3

/** Condition that a job was tried that often in vain: those that are done leave their queue, or begin anew. */
export const isFailing = ({ attempts }: Record<'attempts', AnyPgColumn>): SQL =>
  sql`${attempts} >= ${sql.raw(String(triesOfFailing))}`

type DueTable = PgTable & Record<'organizationId' | 'id' | 'status' | 'dueAt' | 'attempts', PgColumn>

/** Finds up to `limit` rows of any organizations that are due since `dueAt`, longest overdue first: their organization,
 *  and their `id` if that column is named. */
export const findDue = (
  db: Database,
  table: PgTable & { organizationId: PgColumn },
  dueAt: PgColumn,
  isDue: SQL,
  limit: number,
  id: PgColumn | SQL = sql`''`,
): Promise<{ id: string; organizationId: string }[]> =>
  findEverywhere(
    db,
    table.organizationId,
    (isAsked) => sql`select ${id} as id, ${table.organizationId} as "organizationId"
      from ${table} where ${isAsked} and ${isDue} order by ${dueAt} limit ${limit}`,
  )

/** Claims rows of the organizations of due ones, those of each by themselves: no statement locks rows of several. */
export async function claimByOrganization<Found extends { organizationId: string }, Row>(
  found: Found[],
  claim: (organizationId: string, found: Found[]) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const claimed: Row[] = []
  for (const [organizationId, own] of groupBy(found, ({ organizationId }) => organizationId))
    claimed.push(...(await claim(organizationId, own)))
  return claimed
}

// Finds due rows of all organizations in turns: the first of each, then the second of each, and those that are `isLess`
// after all others. Walks from one organization to the next by an index on (organization, `isLess`, `due_at`), so that it
// reads as many rows of each as it may return, however many are due.
function findInTurns(db: Database, table: DueTable, isLess: SQL, limit: number) {
  const { organizationId, dueAt } = table
  const waits = sql`${table.status} = 'pending'`
  const rows = (isOf: SQL, partition: SQL) => sql`
    select ${organizationId} as "organizationId", ${isLess} as "isLess", ${dueAt} as since,
      row_number() over (${partition} order by ${dueAt}) as turn
    from ${table} where ${isOf} and ${waits} and ${dueAt} <= ${nowMs}`
  const next = (condition: SQL) =>
    sql`(select ${organizationId} from ${table} where ${waits} and ${condition} order by 1 limit 1)`
  const walk = sql`
    with recursive owners as (
      select ${next(sql`true`)} as owner
      union all select ${next(sql`${organizationId} > owner`)} from owners where owner is not null
    )
    select due.* from owners cross join unnest(array[false, true]) as less cross join lateral (
      ${rows(sql`${organizationId} = owner and ${isLess} = less`, sql``)}
      order by ${dueAt} limit ${limit}) as due`
  // No statement walks over several servers: each reads all that is due there.
  const all = (isAsked: SQL) => rows(isAsked, sql`partition by ${organizationId}, ${isLess}`)
  const first = (due: SQL) => sql`select "organizationId" from (${due}) as due
    where turn <= ${limit} order by "isLess", turn, since limit ${limit}`
  return findEverywhere<{ organizationId: string }>(
    db,
    organizationId,
    (isAsked) => first(all(isAsked)),
    () => first(walk),
  )
}

/** Claims up to `limit` due rows under a lease of `leaseSeconds`: a share of each organization, so that a large backlog of
 *  one delays no other, longest overdue first, and those that are `isLess` after all others. Needs an index on
 *  (organization, `isLess`, `due_at`) of pending rows. Until the lease ends, no other process claims them. Rows that are
 *  locked are skipped. Returns the claimed rows. */
export async function claimDue<Table extends DueTable>(
  db: Database,
  table: Table,
  { limit, leaseSeconds, isLess = sql`not true` }: { limit: number; leaseSeconds: number; isLess?: SQL },
): Promise<Table['$inferSelect'][]> {
  return claimByOrganization(await findInTurns(db, table, isLess, limit), (organizationId, { length }) => {
    const isOfOrganization = sql`${table.organizationId} = ${organizationId}`
    // An array, so that the subquery runs once.
    const free = sql`array(select ${table.id} from ${table}
      where ${isOfOrganization} and ${table.status} = 'pending' and ${table.dueAt} <= ${nowMs}
      order by ${isLess}, ${table.dueAt} limit ${length} for update skip locked)`
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
