import { and, asc, between, eq, gte, inArray, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, rowStatement, statement } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { type Context, requireChannel } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { locations } from '../location/table.ts'
import { eventById } from './loaders.ts'
import { searchWords, toQuery } from './search-words.ts'
import { duration, type Event, events } from './table.ts'

/** Which events: dates are moments, the circle in degrees and kilometres, great-circle. */
export const eventFilter = z.object({
  organizationId: scalars.identifier.nullish(),
  locationId: scalars.identifier.nullish(),
  /** Events that start at or after it. */
  startDate: z.date().nullish(),
  /** Events that end at or before it. */
  endDate: z.date().nullish(),
  search: scalars.search.nullish(),
  near: z.object({ lat: scalars.latitude, lng: scalars.longitude, radius: scalars.radius }).nullish(),
})
export type EventFilter = z.output<typeof eventFilter>

/** Where a page begins: behind an event of the one before, or after a number of events. */
export type EventPage = { first: number; after?: { startDate: Date; id: string } | null; offset?: number }

const earthRadius = 6371.0088
const degrees = (radians: number) => (radians * 180) / Math.PI
const parameter = sql.placeholder

const conditions = {
  organizationId: eq(events.organizationId, parameter('organizationId')),
  locationId: eq(events.locationId, parameter('locationId')),
  startDate: gte(events.startDate, parameter('startDate')),
  endDate: lte(events.endDate, parameter('endDate')),
  // No event that has not ended began longer ago than the longest one takes: so the index of starts leads to the first
  // of them, however many have ended.
  notEnded: sql`${events.endDate} > now() and ${events.startDate} >= now() - make_interval(secs =>
    (select max(${duration(events)}) from ${events})::double precision)`,
  search: sql`${events.searchWords} @@ ${parameter('search')}::tsquery`,
  near: inArray(
    events.locationId,
    sql`(select ${locations.id} from ${locations} where ${and(
      // The box lets the index in; the distance decides.
      between(locations.latitude, parameter('south'), parameter('north')),
      between(locations.longitude, parameter('west'), parameter('east')),
      sql`${2 * earthRadius} * asin(least(1, sqrt(
        power(sin(radians(${locations.latitude} - ${parameter('lat')}) / 2), 2)
        + cos(radians(${parameter('lat')})) * cos(radians(${locations.latitude}))
          * power(sin(radians(${locations.longitude} - ${parameter('lng')}) / 2), 2)
      ))) <= ${parameter('radius')}`,
    )})`,
  ),
  after: sql`(${events.startDate}, ${events.id}) > (${parameter('afterDate')}::timestamptz, ${parameter('afterId')})`,
} satisfies Record<string, SQL>

type Condition = keyof typeof conditions

// A box that holds the circle. Around a pole or across the date line it is the whole band of latitudes.
function boxAround({ lat, lng, radius }: { lat: number; lng: number; radius: number }) {
  const arc = radius / earthRadius
  const south = lat - degrees(arc)
  const north = lat + degrees(arc)
  const halfWidth = degrees(Math.asin(Math.min(1, Math.sin(arc) / Math.cos((lat * Math.PI) / 180))))
  const whole = south <= -90 || north >= 90 || lng - halfWidth < -180 || lng + halfWidth > 180
  return { south, north, west: whole ? -180 : lng - halfWidth, east: whole ? 180 : lng + halfWidth }
}

/** Which conditions a filter asks for, and the values of their parameters. */
function readFilter(filter: EventFilter) {
  const words = searchWords(filter.search ?? '')
  const asked: Record<Exclude<Condition, 'after'>, boolean> = {
    organizationId: Boolean(filter.organizationId),
    locationId: Boolean(filter.locationId),
    startDate: Boolean(filter.startDate),
    endDate: Boolean(filter.endDate),
    notEnded: !filter.startDate && !filter.endDate,
    search: words.length > 0,
    near: Boolean(filter.near),
  }
  const names = (Object.keys(asked) as (keyof typeof asked)[]).filter((name) => asked[name])
  const { near, startDate, endDate, ...plain } = filter
  // A placeholder takes what the driver takes: a moment as text.
  const moments = { startDate: startDate?.toISOString(), endDate: endDate?.toISOString() }
  return {
    names,
    values: { ...plain, ...moments, search: toQuery(words), ...near, ...(near && boxAround(near)) },
  }
}

// One named statement for each set of conditions that is asked for: each has a plan of its own.
const where = (names: Condition[]) =>
  and(anyOf(events.organizationId, 'organizationIds'), ...names.map((name) => conditions[name]))

// Which events, and in which revisions: the rest is known as a rule.
const pageRows = rowsOf({ id: events.id, revision: events.revision })
const eventPage = (db: Database, names: Condition[]) =>
  rowStatement(db, `events_${names.join('_')}`, {
    rows: pageRows,
    query: (select) =>
      select
        .from(events)
        .where(where(names))
        .orderBy(asc(events.startDate), asc(events.id))
        .limit(parameter('limit'))
        .offset(parameter('offset')),
  })

// Nobody reads on to the end of more, and each costs as much as one that is read.
const maxCounted = 10_000

/** How many there are, up to 10,000; `isCapped` where there are more. */
export type EventCount = { count: number; isCapped: boolean }

const eventCount = (db: Database, names: Condition[]) =>
  statement(db, `count_events_${names.join('_')}`, (db) =>
    db.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(
      db
        .select({ one: sql`1`.as('one') })
        .from(events)
        .where(where(names))
        .limit(maxCounted + 1)
        .as('counted'),
    ),
  )

/** The events that a channel sees, by `startDate` and id; one more than asked for where the list goes on, so that a
 *  surface knows. Without a date only events that have not ended (INTERFACE, GET /events; DECISIONS 3). */
export async function searchEvents(filter: EventFilter, page: EventPage, ctx: Context): Promise<Event[]> {
  const { organizationIds } = requireChannel(ctx)
  const { names, values } = readFilter(filter)
  const found = await eventPage(ctx.catalogue, page.after ? [...names, 'after'] : names).execute({
    ...values,
    organizationIds,
    afterDate: page.after?.startDate.toISOString(),
    afterId: page.after?.id,
    limit: page.first + 1,
    offset: page.offset ?? 0,
  })
  const loaded = await ctx.loaders.get(eventById).loadRevisions(found)
  return loaded.filter((event) => event !== null)
}

/** How many events the same filter finds in all, counted up to 10,000. */
export async function countEvents(filter: EventFilter, ctx: Context): Promise<EventCount> {
  const { organizationIds } = requireChannel(ctx)
  const { names, values } = readFilter(filter)
  const [row] = await eventCount(ctx.catalogue, names).execute({ ...values, organizationIds })
  const count = row?.count ?? 0
  return { count: Math.min(count, maxCounted), isCapped: count > maxCounted }
}
