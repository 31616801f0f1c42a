import { and, asc, between, desc, eq, gte, inArray, lt, lte, not, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { cursorReader, encodeCursor } from '../../engine/base/cursor.ts'
import { identifierPattern } from '../../engine/base/ids.ts'
import * as scalars from '../../engine/base/input-types.ts'
import { canCorrelate } from '../../engine/data/by-organization.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { anyOf, atRunTime, query, type Select, textArrayParam, unindexed } from '../../engine/data/query.ts'
import { type Context, requireCaller } from '../caller/context.ts'
import { eventById } from '../event/loaders.ts'
import { searchWords, toGenreQuery, toQuery } from '../event/search-words.ts'
import { type Event, events, isLong } from '../event/table.ts'
import { foldedCity, locations } from '../location/table.ts'
import { isOnSale } from '../ticket-rate/sale-rules.ts'

/** Sort key of the list. */
type Position = Pick<Event, 'startDate' | 'id'>

/** Opaque cursor of an event in the list. */
export const toCursor = ({ startDate, id }: Position): string => encodeCursor(`${startDate.getTime()} ${id}`)

const shape = new RegExp(`^(-?\\d{1,15}) (${identifierPattern})$`)

/** Decodes a cursor. */
export const readCursor = cursorReader(shape, (time = '', id = ''): Position | null => {
  const startDate = new Date(Number(time))
  return scalars.isStorableDate(startDate) ? { startDate, id } : null
})

/** Circle in degrees and kilometres. */
export const circle = z
  .object({
    latitude: scalars.latitude.describe('Latitude of the centre, in degrees.'),
    longitude: scalars.longitude.describe('Longitude of the centre, in degrees.'),
    radius: scalars.radius.default(5).describe('Radius in kilometres, more than 0 and at most 500.'),
  })
  .describe('Circle around a point, measured along the great circle.')

/** Makes a filter of events, with a text that says which of them it returns. */
export const only = scalars.filtersOf('events')

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
  genre: only(scalars.text(100), 'with this music genre, whose case, accents and punctuation do not matter'),
  near: only(circle, 'at locations within this circle'),
  onSale: only(
    z.boolean(),
    'with a ticket rate whose `status` is `ON_SALE`; if false, only those without. A page looks through ten events for each that it may show, so it may be short or empty and `hasNextPage` true',
  ),
})
/** Filter of the list. All that it finds is `within` an organization, if that is given, starts before `startsBefore`,
 *  and is not over at `notOverAt`. */
export type EventFilter = z.output<typeof eventFilter> & {
  within?: string
  startsBefore?: Date | null
  notOverAt?: Date | null
}

/** Page of the list: after the last event of the previous page, or by offset. */
type EventPage = { first: number; after?: Position | null; offset?: number; orderBy?: EventOrder }

/** Orders of the list; ties are ordered by id. */
export const eventOrders = ['START_DATE_ASC', 'START_DATE_DESC'] as const
export type EventOrder = (typeof eventOrders)[number]

// Mean radius, in kilometres.
const earthRadius = 6371.0088
const degrees = (radians: number) => (radians * 180) / Math.PI
const parameter = sql.placeholder

// Condition that an index of its own serves, but not the order of the list: where it finds no event, nothing is looked
// through in that order.
const has = (condition: SQL) => and(sql`exists (select from ${events} where ${condition})`, condition)

// Condition that an event is at a location that has an indexed condition, and another.
const isAt = (indexed: SQL | undefined, exact?: SQL) =>
  and(
    sql`exists (select from ${locations} join ${events} on ${events.locationId} = ${locations.id} where ${indexed})`,
    inArray(events.locationId, sql`(select ${locations.id} from ${locations} where ${and(indexed, exact)})`),
  )

// Condition that an event ends after a time, and bound of its start. It began at most a week before that, unless it lasts
// longer: then no earlier than the first such event that the caller sees. This bound lets the index on `start_date` skip
// past events, however many there are. The offset keeps the planner from looking for the first one by that very index.
const endsAfter = (time: SQL) =>
  [
    sql`${events.endDate} > ${time}`,
    sql`${events.startDate} >= least(${time} - interval '7 days',
    (select min(start_date) from (select ${events.startDate} from ${events} where ${isLong(events)}
      and ${events.endDate} > ${time} and ${anyOf(events.organizationId, 'organizationIds')} offset 0) as long))`,
  ] as const
const [isNotOver, couldBeNotOver] = endsAfter(sql`${parameter('notOverAt')}::timestamptz`)

// In the order in which they make the names of statements.
const conditions = {
  // One organization has an index in the order of the list; what is at a location needs none but the location's.
  ofOne: eq(events.organizationId, parameter('organizationId')),
  ofSome: anyOf(events.organizationId, 'organizationIds'),
  ofLocated: sql`${unindexed(events.organizationId)} = any(${textArrayParam('organizationIds')})`,
  locationId: eq(events.locationId, parameter('locationId')),
  startDate: gte(events.startDate, parameter('startDate')),
  // No event ends before it starts, and only the start is in the order of the list.
  endDate: and(lte(events.endDate, parameter('endDate')), lte(events.startDate, parameter('endDate'))),
  startsBefore: lt(events.startDate, parameter('startsBefore')),
  // An event of no length is at its start.
  notOverAt: and(or(isNotOver, gte(events.startDate, parameter('notOverAt'))), couldBeNotOver),
  notEnded: and(...endsAfter(sql`now()`)),
  search: has(sql`${events.searchWords} @@ ${parameter('search')}::tsquery`),
  city: isAt(sql`${foldedCity(locations.city)} = ${foldedCity(parameter('city'))}`),
  countryCode: isAt(sql`${locations.countryCode} = ${parameter('countryCode')}`),
  genre: has(sql`${events.searchWords} @@ ${parameter('genre')}::tsquery`),
  near: isAt(
    // The box can use the index; the distance is exact.
    and(
      between(locations.latitude, parameter('south'), parameter('north')),
      between(locations.longitude, parameter('west'), parameter('east')),
    ),
    sql`${2 * earthRadius} * asin(least(1, sqrt(
      power(sin(radians(${locations.latitude} - ${parameter('latitude')}) / 2), 2)
      + cos(radians(${parameter('latitude')})) * cos(radians(${locations.latitude}))
        * power(sin(radians(${locations.longitude} - ${parameter('longitude')}) / 2), 2)
    ))) <= ${parameter('radius')}`,
  ),
  // Form for a distributed database. Others look at one event after the other.
  onSale: isOnSale('in'),
  notOnSale: not(isOnSale('in')),
  after: sql`(${events.startDate}, ${events.id}) > (${parameter('afterDate')}::timestamptz, ${parameter('afterId')})`,
  afterDown: sql`(${events.startDate}, ${events.id}) < (${parameter('afterDate')}::timestamptz, ${parameter('afterId')})`,
} satisfies Record<string, SQL | undefined>

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

// Events that a page looks through for each that it may show, if what is on sale is asked for: only each event's rates
// and their counters can tell.
const lookedThrough = 10

/** Translates a filter into conditions, with the values of their parameters, and whether only what is on sale or what is
 *  not is to be kept of the events that they find. */
function readFilter({ within, organizationId, ...filter }: EventFilter, ctx: Context) {
  const words = searchWords(filter.search ?? '')
  const { near, startDate, endDate, startsBefore, notOverAt, onSale, ...plain } = filter
  const organizationIds = requireCaller(ctx).organizationIds.filter(
    (id) => id === (organizationId ?? id) && id === (within ?? id),
  )
  const isSet = !canCorrelate(ctx.shared)
  const given: Partial<Record<Condition, unknown>> = {
    ...filter,
    ofLocated: filter.locationId,
    ofOne: !filter.locationId && organizationIds.length <= 1,
    ofSome: !filter.locationId && organizationIds.length > 1,
    notEnded: !startDate && !endDate && !startsBefore && !notOverAt,
    onSale: isSet && onSale,
    notOnSale: isSet && onSale === false,
    search: words.length,
  }
  const names = (Object.keys(conditions) as Condition[]).filter((name) => given[name])
  // Placeholders bypass Drizzle's mapping, and the driver takes timestamps as text.
  const times = { startDate, endDate, startsBefore, notOverAt }
  const timestamps = Object.fromEntries(Object.entries(times).map(([name, at]) => [name, at?.toISOString()]))
  return {
    names,
    kept: isSet ? null : (onSale ?? null),
    values: {
      ...plain,
      ...timestamps,
      ...near,
      ...(near && boxAround(near)),
      search: toQuery(words),
      genre: filter.genre && toGenreQuery(filter.genre),
      organizationIds,
      organizationId: organizationIds[0] ?? '',
      mode: ctx.mode,
    },
  }
}

// One named statement per set of conditions, so that each has its own plan.
const where = (names: Condition[]) => and(...names.map((name) => conditions[name]))

const nameOf = (names: Condition[], kept: boolean | null) =>
  [...names, ...(kept === null ? [] : ['keeping', kept])].join('_')

// Only ids and revisions: the loader usually has the rest of the rows cached.
const pageRows = rowsOf({ id: events.id, revision: events.revision })
const inOrder = (isDescending: boolean) =>
  [events.startDate, events.id].map((column) => (isDescending ? desc(column) : asc(column)))
const eventPage = (names: Condition[], isDescending: boolean) => ({
  rows: pageRows,
  query: (select: Select) =>
    select
      .from(events)
      .where(where(names))
      .orderBy(...inOrder(isDescending))
      .limit(parameter('limit'))
      .offset(parameter('offset')),
})

const isOnSaleNow = isOnSale('exists')
const isKept = (kept: boolean) => (kept ? isOnSaleNow : not(isOnSaleNow))
const isLast = sql`events.number = ${parameter('looked')}::integer`
const keptRows = rowsOf({
  ...{ id: events.id, revision: events.revision, startDate: events.startDate },
  isLast: sql<boolean>`(${isLast})`,
  isKept: sql<boolean>`told.kept`,
})
// Query for the events that a page keeps of those it looks through, and the last of these, from which the next page goes on.
const keptPage = (names: Condition[], isDescending: boolean, kept: boolean) => ({
  rows: keptRows,
  query(select: Select) {
    const order = sql`order by ${sql.join(inOrder(isDescending), sql`, `)}`
    const looked = sql`(select *, row_number() over (${order}) as number from (
      select * from ${events} where ${where(names)} ${order} limit ${parameter('looked')}) as events) as events
      cross join lateral (select ${isKept(kept)} as kept offset 0) as told`
    return select
      .from(looked)
      .where(sql`(${isLast} or told.kept)`)
      .orderBy(...inOrder(isDescending))
      .limit(parameter('limit'))
  },
})

/** Maximum number of events that are counted: a row costs as much as reading it, and nobody pages further than this. */
const maxCounted = 10_000

/** Finds events that the caller may see, ordered by `startDate` and id. Returns one more than `first` if the
 *  list continues. Without a date, finds only events that have not ended (DECISIONS, listing events). With `onSale` it
 *  may stop before it has found so many, and the list goes on behind the last event that it has looked at
 *  (`stoppedAt`). */
export async function searchEvents(filter: EventFilter, page: EventPage, ctx: Context) {
  const { names: filters, kept, values } = readFilter(filter, ctx)
  const isDescending = page.orderBy === 'START_DATE_DESC'
  const names: Condition[] = page.after ? [...filters, isDescending ? 'afterDown' : 'after'] : filters
  const name = `events_${nameOf(names, kept)}${isDescending ? '_down' : ''}`
  const given = {
    ...values,
    afterDate: page.after?.startDate.toISOString(),
    afterId: page.after?.id,
    looked: lookedThrough * page.first,
    limit: page.first + 1,
    offset: page.offset ?? 0,
  }
  const load = async (rows: { id: string; revision: string }[]) =>
    (await ctx.loaders.get(eventById).loadRevisions(rows)).filter((event) => event !== null)
  if (kept === null) {
    const rows = await query(name, eventPage(names, isDescending), atRunTime)(ctx.shared, given)
    return { found: await load(rows), stoppedAt: null }
  }
  const rows = await query(name, keptPage(names, isDescending, kept), atRunTime)(ctx.shared, given)
  const found = rows.filter(({ isKept }) => isKept)
  const last = found.length <= page.first ? rows.find(({ isLast }) => isLast) : undefined
  return { found: await load(found), stoppedAt: last ?? null }
}

/** Counts the events that a filter finds. If there are more than `maxCounted` to look at, counts those of that many. */
export async function countEvents(filter: EventFilter, ctx: Context) {
  const { names, kept, values } = readFilter(filter, ctx)
  const count = () => sql`
    select least(count(*) filter (where ${kept === null ? sql`true` : isKept(kept)}), ${sql.raw(`${maxCounted}`)})::integer as count,
      count(*) > ${sql.raw(`${maxCounted}`)} as "isCapped"
    from (select * from ${events} where ${where(names)} limit ${sql.raw(`${maxCounted + 1}`)}) as events`
  const name = `count_events_${nameOf(names, kept)}`
  const [row] = await query<{ count: number; isCapped: boolean }>(name, count, atRunTime)(ctx.shared, values)
  return row ?? { count: 0, isCapped: false }
}
