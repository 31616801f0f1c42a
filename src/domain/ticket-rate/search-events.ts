import { and, asc, between, desc, eq, gte, inArray, lte, not, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, runNamed, type Select } from '../../data/query.ts'
import { type Context, requireCaller } from '../../request/context.ts'
import { decodeCursor, encodeCursor } from '../../shared/cursor.ts'
import { identifierPattern } from '../../shared/ids.ts'
import * as scalars from '../../shared/input-types.ts'
import { eventById } from '../event/loaders.ts'
import { searchWords, toQuery } from '../event/search-words.ts'
import { durationSeconds, type Event, events } from '../event/table.ts'
import { foldedCity, locations } from '../location/table.ts'
import { isOnSale } from './sale-rules.ts'

/** Sort key of the list. */
type Position = Pick<Event, 'startDate' | 'id'>

/** Opaque cursor of an event in the list. */
export const toCursor = ({ startDate, id }: Position): string => encodeCursor(`${startDate.getTime()} ${id}`)

const shape = new RegExp(`^(-?\\d{1,15}) (${identifierPattern})$`)

function placeIn(text: string): Position | null {
  const [, time, id] = shape.exec(text) ?? []
  const startDate = new Date(Number(time))
  return id && scalars.isStorableDate(startDate) ? { startDate, id } : null
}

/** Decodes a cursor, of the argument with this name. Refuses: INVALID, for a text that is not such a cursor. */
export const readCursor = (cursor: string, name?: string): Position => decodeCursor(cursor, placeIn, name)

/** Circle in degrees and kilometres. */
export const circle = z
  .object({
    latitude: scalars.latitude.describe('Latitude of the centre, in degrees.'),
    longitude: scalars.longitude.describe('Longitude of the centre, in degrees.'),
    radius: scalars.radius.default(5).describe('Radius in kilometres, more than 0 and at most 500.'),
  })
  .describe('Circle around a point, measured along the great circle.')

const only = scalars.filtersOf('events')

/** Filter of the list. */
export const eventFilter = z.object({
  organizationId: only(scalars.identifier, 'of this organization'),
  locationId: only(scalars.identifier, 'at this location'),
  startDate: only(z.date(), 'that start at or after this time. A plain date means midnight UTC'),
  endDate: only(z.date(), 'that end at or before this time. A plain date means midnight UTC'),
  search: only(
    scalars.search,
    'whose name has, for each word of the search, a word that starts with it. Ignores case and accents',
  ),
  city: only(scalars.text(200), 'at locations in this city, whose case and accents do not matter'),
  countryCode: only(scalars.countryCode, 'at locations in this country, a two-letter ISO 3166 code'),
  genre: only(scalars.text(100), 'with this music genre, as it is written'),
  near: only(circle, 'at locations within this circle'),
  onSale: only(z.boolean(), 'with a ticket rate whose `status` is `ON_SALE`; if false, only those without'),
})
/** Filter of the list. All that it finds is `within` an organization, if that is given. */
export type EventFilter = z.output<typeof eventFilter> & { within?: string }

/** Page of the list: after the last event of the previous page, or by offset. */
type EventPage = { first: number; after?: Position | null; offset?: number; orderBy?: EventOrder }

/** Orders of the list; ties are ordered by id. */
export const eventOrders = ['START_DATE_ASC', 'START_DATE_DESC'] as const
export type EventOrder = (typeof eventOrders)[number]

// Mean radius, in kilometres.
const earthRadius = 6371.0088
const degrees = (radians: number) => (radians * 180) / Math.PI
const parameter = sql.placeholder

// Condition that an event is at a location that has this one.
const isAt = (has: SQL | undefined) =>
  inArray(events.locationId, sql`(select ${locations.id} from ${locations} where ${has})`)

// In the order in which they make the names of statements.
const conditions = {
  within: eq(events.organizationId, parameter('within')),
  organizationId: eq(events.organizationId, parameter('organizationId')),
  locationId: eq(events.locationId, parameter('locationId')),
  startDate: gte(events.startDate, parameter('startDate')),
  endDate: lte(events.endDate, parameter('endDate')),
  // An event that has not ended began at most a week ago, unless it lasts longer: then no earlier than the
  // first such event that the caller sees. This bound lets the index on `start_date` skip past events,
  // however many there are. The offset keeps the planner from looking for the first one by that very index.
  notEnded: sql`${events.endDate} > now() and ${events.startDate} >= least(now() - interval '7 days',
    (select min(start_date) from (select ${events.startDate} from ${events} where ${durationSeconds(events)} > 7 * 86400
      and ${events.endDate} > now() and ${anyOf(events.organizationId, 'organizationIds')} offset 0) as long))`,
  search: sql`${events.searchWords} @@ ${parameter('search')}::tsquery`,
  city: isAt(sql`${foldedCity(locations.city)} = ${foldedCity(parameter('city'))}`),
  countryCode: isAt(sql`${locations.countryCode} = ${parameter('countryCode')}`),
  genre: sql`${events.musicGenres} @> array[${parameter('genre')}::text]`,
  near: isAt(
    and(
      // The box can use the index; the distance is exact.
      between(locations.latitude, parameter('south'), parameter('north')),
      between(locations.longitude, parameter('west'), parameter('east')),
      sql`${2 * earthRadius} * asin(least(1, sqrt(
        power(sin(radians(${locations.latitude} - ${parameter('latitude')}) / 2), 2)
        + cos(radians(${parameter('latitude')})) * cos(radians(${locations.latitude}))
          * power(sin(radians(${locations.longitude} - ${parameter('longitude')}) / 2), 2)
      ))) <= ${parameter('radius')}`,
    ),
  ),
  onSale: isOnSale,
  notOnSale: not(isOnSale),
  after: sql`(${events.startDate}, ${events.id}) > (${parameter('afterDate')}::timestamptz, ${parameter('afterId')})`,
  afterDown: sql`(${events.startDate}, ${events.id}) < (${parameter('afterDate')}::timestamptz, ${parameter('afterId')})`,
} satisfies Record<string, SQL>

type Condition = keyof typeof conditions

// Bounding box of the circle. Near a pole or across the date line it spans all longitudes.
function boxAround({ latitude, longitude, radius }: z.output<typeof circle>) {
  const arc = radius / earthRadius
  const south = latitude - degrees(arc)
  const north = latitude + degrees(arc)
  const halfWidth = degrees(Math.asin(Math.min(1, Math.sin(arc) / Math.cos((latitude * Math.PI) / 180))))
  const west = longitude - halfWidth
  const east = longitude + halfWidth
  const spansAll = south <= -90 || north >= 90 || west < -180 || east > 180
  return { south, north, west: spansAll ? -180 : west, east: spansAll ? 180 : east }
}

/** Translates a filter into conditions and the values of their parameters. */
function readFilter(filter: EventFilter, ctx: Context) {
  const words = searchWords(filter.search ?? '')
  const { near, startDate, endDate, onSale, ...plain } = filter
  const given: Partial<Record<Condition, unknown>> = {
    ...filter,
    notEnded: !startDate && !endDate,
    notOnSale: onSale === false,
    search: words.length,
  }
  const names = (Object.keys(conditions) as Condition[]).filter((name) => given[name])
  // Placeholders bypass Drizzle's mapping, and the driver takes timestamps as text.
  const timestamps = { startDate: startDate?.toISOString(), endDate: endDate?.toISOString() }
  return {
    names,
    values: {
      ...plain,
      ...timestamps,
      ...near,
      ...(near && boxAround(near)),
      search: toQuery(words),
      organizationIds: requireCaller(ctx).organizationIds,
      mode: ctx.mode,
    },
  }
}

// One named statement per set of conditions, so that each has its own plan.
const where = (names: Condition[]) =>
  and(anyOf(events.organizationId, 'organizationIds'), ...names.map((name) => conditions[name]))

// Only ids and revisions: the loader usually has the rest of the rows cached.
const pageRows = rowsOf({ id: events.id, revision: events.revision })
const eventPage = (names: Condition[], isDescending: boolean) => ({
  rows: pageRows,
  query: (select: Select) =>
    select
      .from(events)
      .where(where(names))
      .orderBy(...[events.startDate, events.id].map(isDescending ? desc : asc))
      .limit(parameter('limit'))
      .offset(parameter('offset')),
})

/** Maximum number of events that are counted: a row costs as much as reading it, and nobody pages further than this. */
export const maxCounted = 10_000

/** Finds events that the caller may see, ordered by `startDate` and id. Returns one more than `first` if the
 *  list continues. Without a date, finds only events that have not ended (DECISIONS 3). */
export async function searchEvents(filter: EventFilter, page: EventPage, ctx: Context): Promise<Event[]> {
  const { names, values } = readFilter(filter, ctx)
  const isDescending = page.orderBy === 'START_DATE_DESC'
  const conditions: Condition[] = page.after ? [...names, isDescending ? 'afterDown' : 'after'] : names
  const name = `events_${conditions.join('_')}${isDescending ? '_down' : ''}`
  const found = await runNamed(ctx.catalogue, name, eventPage(conditions, isDescending), {
    ...values,
    afterDate: page.after?.startDate.toISOString(),
    afterId: page.after?.id,
    limit: page.first + 1,
    offset: page.offset ?? 0,
  })
  const loaded = await ctx.loaders.get(eventById).loadRevisions(found)
  return loaded.filter((event) => event !== null)
}

/** Counts the events that a filter finds. A number above `maxCounted` means that there are more. */
export async function countEvents(filter: EventFilter, ctx: Context): Promise<number> {
  const { names, values } = readFilter(filter, ctx)
  const count = () => sql`select count(*)::integer as count from (
    select 1 from ${events} where ${where(names)} limit ${maxCounted + 1}) "counted"`
  const name = `count_events_${names.join('_')}`
  const [row] = await runNamed<{ count: number }>(ctx.catalogue, name, count, values)
  return row?.count ?? 0
}
