import { and, asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { rowsOf } from '../../data/json-rows.ts'
import { type Find, inOrganization, rowStatement, textArrayParam } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { type Event, events } from '../event/table.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { type CheckIn, checkIns } from './table.ts'

/** A scan of a ticket, with the people inside with it and those that it admits when it was read. */
export type LoggedCheckIn = CheckIn &
  Pick<Ticket, 'entered' | 'admits' | 'eventId' | 'mode'> & { startDate: Date }

const parameter = sql.placeholder

const find = (condition: SQL, limit: number): Find<LoggedCheckIn> => ({
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
      .where(and(inOrganization(checkIns.organizationId), condition))
      .orderBy(asc(checkIns.createdAt), asc(checkIns.integrationId), asc(checkIns.nonce))
      .limit(limit),
})

/** Maximum number of check-ins that a statement reads. */
export const pageSize = 500

const byNames = find(
  sql`(${checkIns.integrationId}, ${checkIns.nonce}) in
    (select * from unnest(${textArrayParam('integrationIds')}, ${textArrayParam('nonces')}))`,
  1_000,
)
// Reads a few rows of each ticket by its index: an event has no index of its own check-ins.
const after = find(
  sql`${eq(tickets.eventId, parameter('eventId'))} and (${checkIns.createdAt}, ${checkIns.integrationId}, ${checkIns.nonce})
    > (${parameter('createdAt')}::text::timestamptz, ${parameter('integrationId')}::text, ${parameter('nonce')}::text)`,
  pageSize,
)

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
  rowStatement(db, 'check_ins_after', after).execute({
    ...place,
    organizationId,
    eventId,
    createdAt: place.createdAt.toISOString(),
  })

/** Transactions may commit in another order than they began, this much later at most: the time that a
 *  statement may wait for locks. */
const overlapMs = 15_000

/** The place after which check-ins may still appear that began before a time. */
export const placeBefore = (time: Date): Place => ({
  createdAt: new Date(time.getTime() - overlapMs),
  integrationId: '',
  nonce: '',
})

export const keyOf = ({ integrationId, nonce }: Place): string => `${integrationId} ${nonce}`

/** Reads these check-ins of an organization, by integration and nonce. */
export const readNamedCheckIns = (
  db: Database,
  organizationId: string,
  names: Pick<Place, 'integrationId' | 'nonce'>[],
): Promise<LoggedCheckIn[]> =>
  rowStatement(db, 'check_ins_by_nonce', byNames).execute({
    organizationId,
    integrationIds: names.map(({ integrationId }) => integrationId),
    nonces: names.map(({ nonce }) => nonce),
  })
