import { and, asc, eq, gt, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import { byId } from '../../engine/base/group-by.ts'
import { arrayRows } from '../../engine/data/array-params.ts'
import { livingOrganizations } from '../../engine/data/living-organizations.ts'
import { nowMs } from '../../engine/database/clock.ts'
import { type Connection, type Database, runSql } from '../../engine/database/database.ts'
import { modes } from '../caller/mode.ts'
import { events } from '../event/table.ts'
import { tickets } from '../ticket/table.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { queueNotices } from './queue-notices.ts'

// Payments whose notices a statement queues.
const batchSize = 500

const { id, organizationId, startDate, endDate, displayDate } = events
const dates = { id, start: startDate, end: endDate, display: displayDate }

/** Reads the dates of events, before they are written, for `markMoved`. */
export const readDates = (tx: Connection, areThese: SQL) => tx.select(dates).from(events).where(areThese)

/** Gives events whose dates have changed the next sequence of their calendar entry. If the start has changed
 *  and lies ahead, the attendees are told once the transaction is committed, unless `notify` is false or they
 *  know this start already. */
export async function markMoved(
  tx: Connection,
  before: Awaited<ReturnType<typeof readDates>>,
  areThese: SQL,
  notify: boolean,
): Promise<void> {
  if (before.length === 0) return
  const known = byId(before)
  const differ = (one: Date | null | undefined, other: Date | null) => one?.getTime() !== other?.getTime()
  const isAhead = sql<boolean>`${startDate} > ${nowMs}`
  const now = await tx
    .select({ ...dates, isAhead, since: sql<string>`${nowMs}::text` })
    .from(events)
    .where(areThese)
  const moved = now.flatMap(({ id, start, end, display, isAhead, since }) => {
    const former = known.get(id)
    if (!former) return []
    const isOther = differ(former.start, start) || differ(former.display, display)
    if (!isOther && !differ(former.end, end)) return []
    return [
      { id, former: notify && isAhead && isOther ? { ...former, since } : null, now: { start, display } },
    ]
  })
  if (moved.length > 0)
    await runSql(
      tx,
      sql`update ${events}
      set calendar_sequence = calendar_sequence + 1,
        moved_from = case when not coalesce(moved_from, moved.former) @> moved.now
          then coalesce(moved_from, moved.former) end
      from ${arrayRows('moved', { id: 'text', former: 'jsonb', now: 'jsonb' }).holding(moved)}
      where ${id} = moved.id`,
    )
}

/** Queues the notices of events that were moved, in batches that hold no lock for long. May be run again at any
 *  moment: each sequence is told to each address once. */
export async function queueMoved(db: Database): Promise<void> {
  const { calendarSequence: sequence, movedFrom: former } = events
  const moved = await db
    .select({ id, organizationId, sequence, former })
    .from(events)
    .where(and(isNotNull(former), livingOrganizations(db).areOn(organizationId)))
  for (const event of moved) {
    const rates = db.select({ id: ticketRates.id }).from(ticketRates).where(eq(ticketRates.eventId, event.id))
    const isHeld = and(
      eq(tickets.organizationId, event.organizationId),
      inArray(tickets.mode, [...modes]),
      inArray(tickets.ticketRateId, rates),
      eq(tickets.status, 'active'),
    )
    let last = ''
    for (;;) {
      const held = db.selectDistinct({ id: tickets.paymentId }).from(tickets)
      const page = await held
        .where(and(isHeld, gt(tickets.paymentId, last)))
        .orderBy(asc(tickets.paymentId))
        .limit(batchSize)
      const paymentIds = page.map(({ id }) => id)
      const notice = { about: 'date' as const, former: event.former, occasion: `date:${event.sequence}` }
      await queueNotices(db, { organizationId: event.organizationId, paymentIds }, [notice])
      last = paymentIds.at(-1) ?? ''
      if (page.length < batchSize) break
    }
    await db
      .update(events)
      .set({ movedFrom: null })
      .where(and(eq(id, event.id), eq(sequence, event.sequence)))
  }
}
