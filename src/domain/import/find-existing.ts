import { and, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { byId } from '../../engine/base/group-by.ts'
import { instruments } from '../../engine/base/instruments.ts'
import { type Connection, type Database, runSql } from '../../engine/database/database.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import { slugOf } from './catalogue-rows.ts'
import { isTimezone } from './fields.ts'
import { type Catalogue, eventIdOf, fieldOf, itemsOf, textIn } from './read-catalogue.ts'

export const children = { discounts, ticketRates, prices, supplements, questions }

type ListedTable = (typeof children)[keyof typeof children]

/** Existing row of what is listed under a parent. */
export type ExistingChild = { id: string; parentId: string; position: number; removed: boolean }

type Named = { id: string }

/** Condition that a column is one of these ids, with one parameter for any number of them. */
export const isOneOf = (column: PgColumn, named: Named[]): SQL =>
  sql`${column} = any(${sql.param([...new Set(named.map(({ id }) => id))])}::text[])`

/** Finds the time zones of a file that the database knows by exactly these names. An unknown one fails the
 *  statement, so never call this in a transaction; all zones are then read, which takes PostgreSQL a file each. */
export async function findTimezones(db: Database, json: unknown): Promise<Set<string>> {
  const named = itemsOf(json, 'locations').map(({ raw }) => textIn(raw, 'timezone'))
  const valid = [...new Set(named.filter(isTimezone))]
  if (valid.length === 0) return new Set()
  const known = sql`select name from unnest(${sql.param(valid)}::text[]) as name
    where set_config('timezone', name, true) = name`
  const read = (statement: SQL | string) => runSql<{ name: string }>(db, statement)
  const zones = await read(known).catch(() => read('select name from pg_timezone_names'))
  return new Set(zones.map(({ name }) => name))
}

/** Finds the events of a file that have plain dates, which are days at their venues. */
export const datedEvents = (json: unknown) =>
  itemsOf(json, 'events')
    .filter(({ raw }) => /"\d{4}-\d\d-\d\d"/.test(JSON.stringify(raw)))
    .map(({ raw }) => ({ id: eventIdOf(raw), locationId: textIn(raw, 'location_id') }))

/** Reads the locations that these events name, and those that they have already, with their time zones. */
export async function findVenues(db: Connection, dated: ReturnType<typeof datedEvents>) {
  if (dated.length === 0) return []
  const named = dated.map(({ locationId }) => ({ id: locationId }))
  const { id, timezone } = locations
  return db
    .select({ id, timezone, eventId: events.id })
    .from(locations)
    .leftJoin(events, and(eq(events.locationId, id), isOneOf(events.id, dated)))
    .where(or(isOneOf(id, named), isNotNull(events.id)))
    .orderBy(id, events.id)
}

/** Says the time zone of an event of a file: that of the location that the file names, else of the one that the event
 *  has already; UTC without one. */
export function zonesOf(json: unknown, venues: Awaited<ReturnType<typeof findVenues>>) {
  const placeOf = new Map(venues.map(({ eventId, id }) => [eventId, id]))
  const given = itemsOf(json, 'locations').flatMap(({ raw }): [string, unknown][] => {
    const timezone = fieldOf(raw, 'timezone')
    return timezone === undefined ? [] : [[textIn(raw, '_id'), timezone]]
  })
  const known = new Map<string, unknown>([
    ...venues.map(({ id, timezone }) => [id, timezone] as const),
    ...given,
  ])
  const zones = new Map([...known].filter(([, zone]) => typeof zone === 'string' && isTimezone(zone)))
  return (raw: unknown): string => {
    const isAbsent = fieldOf(raw, 'location_id') === undefined
    const place = isAbsent ? placeOf.get(eventIdOf(raw)) : textIn(raw, 'location_id')
    return String(zones.get(place ?? '') ?? 'UTC')
  }
}

/** Existing rows of what a file names or refers to, and of their siblings, by id; and the time zones of the file that the
 *  database knows. */
export type Existing = Awaited<ReturnType<typeof findExisting>>

/** Reads the existing rows. `timezones` are those of `findTimezones`. */
export async function findExisting(tx: Connection, catalogue: Catalogue, timezones: Set<string>) {
  const owned = [...catalogue.locations, ...catalogue.events]
  const owners = owned.map(({ organizationId }) => ({ id: organizationId }))
  const venues = catalogue.events.map(({ input }) => ({ id: input.location_id ?? '' }))
  const rateIds = catalogue.discounts.flatMap(({ input }) => input.ticket_rate_ids ?? [])
  const discounted = rateIds.map((id) => ({ id }))
  // Rates, prices and discounts share the id space of `stock`, so none may use an id of another.
  const stocked = [...catalogue.ticketRates, ...catalogue.prices, ...catalogue.discounts]

  const { id, slug, currency, decimals } = organizations
  // Those that another one in the file may take the slug of, too.
  const slugs = catalogue.organizations.map(({ input, key }) => ({ id: slugOf(input, key) }))
  const isTheirs = or(isOneOf(id, [...catalogue.organizations, ...owners]), isOneOf(slug, slugs))
  const findOwned = (table: typeof locations | typeof events | typeof ticketRates, named: Named[]) =>
    tx.select({ id: table.id, parentId: table.organizationId }).from(table).where(isOneOf(table.id, named))
  // Rows with these ids, and all rows under these parents.
  function findListed(table: ListedTable, parent: PgColumn, named: Named[], parents: Named[]) {
    const { id, position, removed } = table
    const rows = tx.select({ id, parentId: sql<string>`${parent}`, position, removed }).from(table)
    return rows.where(or(isOneOf(id, named), isOneOf(parent, parents)))
  }
  let found = 0
  async function indexed<Row extends Named>(rows: PromiseLike<Row[]>): Promise<Map<string, Row>> {
    const index = byId(await rows)
    instruments.progress?.('compare', ++found, 9)
    return index
  }
  const { organizationId } = discounts
  const { events: parents, ticketRates: rates } = catalogue
  return {
    timezones,
    organizations: await indexed(
      tx.select({ id, slug, currency, decimals }).from(organizations).where(isTheirs),
    ),
    locations: await indexed(findOwned(locations, [...catalogue.locations, ...venues])),
    events: await indexed(findOwned(events, catalogue.events)),
    /** Rates that a discount of the file is for, under their organizations. */
    discounted: await indexed(findOwned(ticketRates, discounted)),
    discounts: await indexed(findListed(discounts, organizationId, stocked, catalogue.organizations)),
    ticketRates: await indexed(findListed(ticketRates, ticketRates.eventId, stocked, parents)),
    prices: await indexed(findListed(prices, prices.ticketRateId, stocked, rates)),
    supplements: await indexed(
      findListed(supplements, supplements.ticketRateId, catalogue.supplements, rates),
    ),
    questions: await indexed(findListed(questions, questions.ticketRateId, catalogue.questions, rates)),
  }
}
