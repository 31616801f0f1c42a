import { type SQL, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import { nowMs } from '../../../database/clock.ts'
import type { Connection } from '../../../database/database.ts'
import { ticketColumns } from '../columns-table.ts'
import { tickets } from '../table.ts'
import { soldTickets } from './table.ts'

const { organizationId, mode, channelId, paidAt, ticketId } = soldTickets
const named = (columns: { name: string }[]) =>
  sql.join(
    columns.map(({ name }) => sql.identifier(name)),
    sql`, `,
  )

/** Assignments of a statement in SQL that changes tickets: the time of the change. */
export const changedNow = sql`updated_at = ${nowMs}, listed_at = ${nowMs}`

/** Columns that a CTE named `changed` must return for `listChanged`. */
export const columnsOfChanged = sql`${tickets.organizationId}, ${tickets.mode}, ${tickets.channelId}, ${tickets.id},
  ${tickets.activatedAt}, ${tickets.updatedAt}`

/** Puts tickets that have been paid where lists find them: those that a CTE named `changed` in the same
 *  statement has updated, which therefore holds their row locks. A row that another transaction has committed
 *  since the statement began counts as well. */
export const listChanged: SQL = sql`
  insert into ${soldTickets} (${named([organizationId, mode, channelId, ticketId, paidAt, soldTickets.updatedAt])})
  select organization_id, mode, channel_id, id, activated_at, updated_at from changed where activated_at is not null
  on conflict (${named([organizationId, mode, channelId, paidAt, ticketId])}) do update set updated_at = excluded.updated_at`

/** Updates tickets, and where lists find them, in one statement. Values may come from rows of `from`. Returns
 *  the tickets, in any order. */
export function changeTickets(
  tx: Connection,
  set: PgUpdateSetSource<typeof tickets>,
  condition: SQL | undefined,
  from?: SQL,
) {
  const update = tx.update(tickets).set({ ...set, listedAt: nowMs })
  const changed = tx
    .$with('changed')
    .as(
      (from ? (update.from(from) as unknown as typeof update) : update)
        .where(condition)
        .returning(ticketColumns),
    )
  const listed = tx.$with('listed', {}).as(listChanged)
  return tx.with(changed, listed).select().from(changed)
}
