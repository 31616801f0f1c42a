import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { arrayRows } from '../../engine/data/array-params.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { anyOf, type Find, inOrganization, query, queryTogether } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { type Context, requireIntegration } from '../caller/context.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { tickets } from '../ticket/table.ts'
import type { CheckInInput } from './check-in-input.ts'
import { type CheckIn, checkIns } from './table.ts'

const parameter = sql.placeholder

const { id, organizationId, channelId, mode, paymentId, eventId, ticketRateId, status, qrCode } = tickets
const { admits, entered, firstEntryAt, createdAt } = tickets

const asked = arrayRows('asked', {
  place: 'integer',
  ticketId: 'text',
  qrCode: 'text',
  eventId: 'text',
})
const { place, ticketId, ...scan } = asked.cells

// Only tickets that the organization sold in the mode of the caller: no test ticket enters at a real door.
const isOfDoor = (table: string) => sql`${sql.raw(table)}.organization_id = ${parameter('organizationId')}
  and ${sql.raw(table)}.mode = ${parameter('mode')}::text::key_mode`

// A code is unique only within its event: a ticket of the event at the door comes first, then an active one, then that of
// the event nearest in time. The code of an expired ticket may have been reused. Chosen once, where a join could look for
// each ticket of a batch once more for each row that it joins it with.
const chosen = sql`(with chosen as materialized (
  select ${place} as place, case
    when ${ticketId} is not null then (
      select id from ${tickets} where id = ${ticketId} and ${isOfDoor('tickets')})
    else (
      select scanned.id from ${tickets} as scanned join ${events} as shown on shown.id = scanned.event_id
      where scanned.qr_code = ${scan.qrCode} and ${isOfDoor('scanned')}
        and scanned.ended is distinct from 'expired'
      order by scanned.event_id = ${scan.eventId} desc, scanned.status = 'active' desc,
        abs(extract(epoch from shown.start_date - now())), scanned.id
      limit 1)
    end as id
  from ${asked.rows}
) select * from chosen) as chosen`

const scannedColumns = {
  place: sql<number>`chosen.place`,
  startDate: events.startDate,
  displayDate: events.displayDate,
  timezone: sql<string>`coalesce(${locations.timezone}, 'UTC')`,
  ...{ id, organizationId, channelId, mode, paymentId, eventId, ticketRateId, status, qrCode },
  ...{ admits, entered, firstEntryAt, createdAt },
}
const scannedRows = rowsOf(scannedColumns)

/** A ticket that was scanned, and when its event is, with the time zone of the venue. */
export type ScannedTicket = ReturnType<typeof scannedRows.read>[number]

const scanned: Find<ScannedTicket> = {
  rows: scannedRows,
  query: (select) =>
    select
      .from(chosen)
      .innerJoin(tickets, and(inOrganization(tickets.organizationId), sql`${tickets.id} = chosen.id`))
      .innerJoin(events, eq(events.id, tickets.eventId))
      .leftJoin(locations, eq(locations.id, events.locationId)),
}

const made: Find<CheckIn> = {
  rows: rowsOf(getTableColumns(checkIns)),
  query: (select) =>
    select
      .from(checkIns)
      .where(
        and(
          inOrganization(checkIns.organizationId),
          eq(checkIns.integrationId, parameter('integrationId')),
          anyOf(checkIns.idempotencyKey, 'idempotencyKeys'),
        ),
      ),
}

const findBoth = queryTogether<[ScannedTicket, CheckIn]>('find_scans', [scanned, made])

/** A scan at the door or at the bar. */
type Scan = Pick<CheckInInput, 'ticketId' | 'qrCode' | 'eventId' | 'idempotencyKey'>

/** Finds the tickets of scans within the organization of the calling integration, by place, and the check-ins that it
 *  made with their keys, by key. Locks nothing. */
export async function findScans(tx: Connection, scans: Scan[], ctx: Context) {
  const { integrationId, organizationIds } = requireIntegration(ctx)
  const [organizationId] = organizationIds
  const rows = scans.map((scan, place) => ({ ...scan, place, ticketId: scan.ticketId || null }))
  const idempotencyKeys = scans.map(({ idempotencyKey }) => idempotencyKey)
  const [found, earlier] = await findBoth(tx, {
    ...asked.values(rows),
    integrationId,
    organizationId,
    mode: ctx.mode,
    idempotencyKeys,
  })
  return {
    tickets: new Map(found.map((ticket) => [ticket.place, ticket])),
    made: new Map(earlier.map((checkIn) => [checkIn.idempotencyKey, checkIn])),
  }
}

const late = arrayRows('late', { place: 'integer', ticketId: 'text', scannedAt: 'timestamptz' })

/** Largest differences of the number of people inside, after the time of a scan, above (`rise`) and below (`fall`) the
 *  present one. */
export type LaterRange = { rise: number; fall: number }

/** Tolerance for inexact clocks of scanners, in milliseconds. */
export const maxAhead = 5 * 60_000

// Entries and exits of a ticket that are looked at, those that were recorded last.
const maxLater = 1_000

// Scans of a ticket are read once for all of its late ones, in the order in which they were recorded: none before its
// time, but for a scanner whose clock was ahead. `undone` is the sum of a scan and of those after it: before these, so
// many fewer people were inside.
const laterRanges = query('later_check_ins', {
  rows: rowsOf({ place: sql<number>`place`, rise: sql<number>`rise`, fall: sql<number>`fall` }),
  query: (select) =>
    select.from(sql`(
      with undoing as materialized (
        select scanned.ticket_id, recent.scanned_at, sum(case direction when 'in' then people else -people end)
          over (partition by scanned.ticket_id order by recent.scanned_at desc, recent.created_at desc) as undone
        from (select ${late.cells.ticketId} as ticket_id, min(${late.cells.scannedAt}) as since from ${late.rows} group by 1) as scanned
        cross join lateral (
          select * from ${checkIns}
          where ${inOrganization(checkIns.organizationId)} and check_ins.ticket_id = scanned.ticket_id
            and created_at > since - interval '${sql.raw(String(maxAhead / 60_000))} minutes'
          order by created_at desc, id desc limit ${sql.raw(String(maxLater))}
        ) as recent
        where outcome = 'OK' and recent.scanned_at > since
      )
      select ${late.cells.place} as place, greatest(0, -min(undone)) as rise, least(0, -max(undone)) as fall
      from ${late.rows} join undoing on undoing.ticket_id = ${late.cells.ticketId} and undoing.scanned_at > ${late.cells.scannedAt}
      group by 1
    ) as ranges`),
})

/** Finds how many people were inside after the time of each late scan, by place, where anybody came or went
 *  since. Requires this transaction to hold the row locks of the tickets. */
export async function findLater(
  tx: Connection,
  organizationId: string,
  scans: { place: number; ticketId: string; scannedAt: Date }[],
): Promise<Map<number, LaterRange>> {
  if (scans.length === 0) return new Map()
  const ranges = await laterRanges(tx, { organizationId, ...late.values(scans) })
  return new Map(ranges.map((range) => [range.place, range]))
}
