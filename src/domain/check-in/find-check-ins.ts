import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { rowsOf } from '../../data/json-rows.ts'
import { inOrganization, query } from '../../data/query.ts'
import type { Database } from '../../database/database.ts'
import { type Event, events } from '../event/table.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { type CheckIn, checkIns } from './table.ts'

/** A scan of a ticket, with the people inside with it and those that it admits when it was read. */
export type LoggedCheckIn = CheckIn &
  Pick<Ticket, 'entered' | 'admits' | 'eventId' | 'mode'> & { startDate: Date }

const parameter = sql.placeholder

/** Maximum number of check-ins that a statement reads. */
export const pageSize = 500

// Reads a few rows of each ticket by its index: an event has no index of its own check-ins.
const after = query<LoggedCheckIn>('check_ins_after', {
  rows: rowsOf({
    ...getTableColumns(checkIns),
    entered: tickets.entered,
    admits: tickets.admits,
    eventId: tickets.eventId,
    mode: tickets.mode,
    startDate: events.startDate,
  }),
  query: (select) =>
    select
      .from(checkIns)
      .innerJoin(
        tickets,
        and(eq(tickets.organizationId, checkIns.organizationId), eq(tickets.id, checkIns.ticketId)),
      )
      .innerJoin(events, eq(events.id, tickets.eventId))
      .where(
        sql`${inOrganization(checkIns.organizationId)} and ${eq(tickets.eventId, parameter('eventId'))}
          and (${checkIns.createdAt}, ${checkIns.integrationId}, ${checkIns.nonce})
            > (${parameter('createdAt')}::text::timestamptz, ${parameter('integrationId')}::text, ${parameter('nonce')}::text)`,
      )
      .orderBy(asc(checkIns.createdAt), asc(checkIns.integrationId), asc(checkIns.nonce))
      .limit(pageSize),
})

/** Place in the check-ins of an event, in the order in which their transactions began. */
export type Place = Pick<CheckIn, 'createdAt' | 'integrationId' | 'nonce'>

/** An event, and the organization whose check-ins it has. */
export type WatchedEvent = Pick<Event, 'id' | 'organizationId'>

/** Reads the check-ins of an event after a place, up to `pageSize`. */
export const readCheckIns = (
  db: Database,
  { id: eventId, organizationId }: WatchedEvent,
  place: Place,
): Promise<LoggedCheckIn[]> =>
  after(db, { ...place, organizationId, eventId, createdAt: place.createdAt.toISOString() })

/** Transactions may commit in another order than they began, this much later at most: twice the time that a statement may
 *  wait, because a scan waits for its ticket, and then for another one with its nonce. */
const overlapMs = 30_000

// Readers that were woken together begin at the same place, and share what they read.
const stepMs = 5_000

/** Place in the table after which check-ins may still appear that began before a time, and all that began later. */
export const placeBefore = (time: Date): Place => ({
  createdAt: new Date(Math.floor((time.getTime() - overlapMs) / stepMs) * stepMs),
  integrationId: '',
  nonce: '',
})

export const keyOf = ({ integrationId, nonce }: Place): string => `${integrationId} ${nonce}`
