import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { cursorReader, encodeCursor } from '../../engine/base/cursor.ts'
import { groupBy } from '../../engine/base/group-by.ts'
import { arrayRows } from '../../engine/data/array-params.ts'
import { loadById, loadOne, type Readers } from '../../engine/data/batch-loader.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { Loader } from '../../engine/data/loader.ts'
import { anyOf, inOrganization, inOrganizationIfNamed, query } from '../../engine/data/query.ts'
import { isInMode } from '../caller/sold.ts'
import { tickets } from '../ticket/table.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { type CheckIn, checkIns } from './table.ts'

// Check-ins are for integrations: their own organization is known, and nobody else's is asked for.
const organizationOf = async () => null

const columns = getTableColumns(checkIns)
const ofIntegration = (column: PgColumn) =>
  and(inOrganizationIfNamed(column), anyOf(column, 'ownOrganizationIds'))

export const checkInById = loadById<CheckIn>('own', {
  name: 'check_in_by_id',
  rows: rowsOf(columns),
  query: (select, keys) =>
    select
      .from(checkIns)
      .where(and(ofIntegration(checkIns.organizationId), anyOf(checkIns.id, keys), isInMode(checkIns.mode))),
  organizationOf,
})

/** Position among check-ins, in the order in which their transactions began. */
export type Position = Pick<CheckIn, 'createdAt' | 'id'>

/** Opaque cursor of a check-in, in lists and in streams. */
export const toCursor = ({ createdAt, id }: Position): string => encodeCursor(`${createdAt.getTime()} ${id}`)

// Up to the year 5138: PostgreSQL reads no year of five digits as JavaScript writes it.
const shape = /^(\d{1,14}) (\w{0,64})$/

/** Decodes a cursor. */
export const readCursor = cursorReader(shape, (time = '', id = ''): Position => {
  return { createdAt: new Date(Number(time)), id }
})

const asked = arrayRows('asked', {
  place: 'integer',
  parent: 'text',
  limit: 'integer',
  beforeTime: 'timestamptz',
  beforeId: 'text',
})
const { place, parent, limit, beforeTime, beforeId } = asked.cells

/** Makes a loader of pages of check-ins, newest first, by the texts of `pageKey`: one statement for any number of them. */
function loadPages(name: string, column: PgColumn) {
  const find = query(name, {
    rows: rowsOf({ place: sql<number>`${place}`, ...columns }),
    query: (select) =>
      select
        .from(
          sql`${asked.rows} cross join lateral (
            select * from ${checkIns}
            where ${inOrganization(checkIns.organizationId)} and ${isInMode(checkIns.mode)} and ${column} = ${parent}
              and (${checkIns.createdAt}, ${checkIns.id}) < (${beforeTime}, ${beforeId})
            order by created_at desc, id desc limit ${limit}) as check_ins`,
        )
        .orderBy(sql`${checkIns.createdAt} desc, ${checkIns.id} desc`),
  })
  return ({ own: { db, reach } }: Readers) =>
    new Loader<CheckIn[]>(async (keys) => {
      const pages = keys.map((key, place) => ({ ...JSON.parse(key), place }))
      const [organizationId] = reach.ownOrganizationIds
      const found = await find(db, { ...asked.values(pages), organizationId, mode: reach.mode })
      const byPlace = groupBy(found, ({ place }) => String(place))
      return keys.map((_, place) => byPlace.get(String(place)) ?? [])
    })
}
export const checkInsByEventId = loadPages('check_ins_by_event_id', checkIns.eventId)
export const checkInsByTicketId = loadPages('check_ins_by_ticket_id', checkIns.ticketId)

/** Key of a page: at most `limit` check-ins of an event or a ticket, from the newest one before a position. */
export const pageKey = (parent: string, limit: number, before: Position | null): string =>
  JSON.stringify({ parent, limit, beforeTime: before?.createdAt ?? 'infinity', beforeId: before?.id ?? '' })

const attendance = {
  eventId: ticketRates.eventId,
  sold: sql<number>`coalesce(sum(${tickets.admits}) filter (where ${tickets.status} = 'active'), 0)`,
  inside: sql<number>`sum(${tickets.entered})`,
  entered: sql<number>`sum(${tickets.peakAttendance})`,
}

const isPaid = and(isInMode(tickets.mode), sql`${tickets.activatedAt} is not null`)
const isOfRate = and(ofIntegration(tickets.organizationId), eq(tickets.ticketRateId, ticketRates.id))

/** Numbers of people of an event, null if no ticket was ever paid. */
export const attendanceByEventId = loadOne('own', {
  name: 'attendance_by_event_id',
  rows: rowsOf(attendance),
  query: (select, keys) =>
    select
      .from(ticketRates)
      .innerJoin(tickets, and(isOfRate, isPaid))
      .where(anyOf(ticketRates.eventId, keys))
      .groupBy(ticketRates.eventId),
  key: ({ eventId }) => eventId,
  organizationOf,
})
