import { and, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Connection, Database } from '../../database/database.ts'
import { runSql } from '../../database/run-sql.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import { isTimezone } from './fields.ts'
import { type Catalogue, eventIdOf, fieldOf, itemsOf, textIn } from './read-catalogue.ts'

/** Existing row of an object that belongs to a parent. */
export type ExistingChild = { id: string; parentId: string; position: number; removed: boolean }

export const children = { discounts, ticketRates, prices, supplements, questions }
const tables = { locations, events, ...children }
type Kind = keyof typeof tables

/** Existing rows of what a file names or refers to, and of their siblings, by id. */
export type Existing = Record<Kind, Map<string, ExistingChild>> & {
  /** `decimals` are those that its amounts are stored with. */
  organizations: Map<string, { currency: string; decimals: number }>
  /** Rates that a discount of the file is for. */
  discounted: Map<string, { organizationId: string }>
  /** Time zones of the file that the database knows. */
  timezones: Set<string>
}

type Named = { id: string }

/** Condition that a column is one of these ids, with one parameter for any number of them. */
export const among = (column: PgColumn, named: Named[]): SQL =>
  sql`${column} = any(${sql.param([...new Set(named.map(({ id }) => id))])}::text[])`

/** Finds the time zones of a file that the database knows by exactly these names. One that it does not know fails the
 *  statement, so this is for no transaction; then all are read, which takes a file each. */
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

/** Reads the time zones of the venues of a file's events, if any has plain dates: of the location that the file names,
 *  else of the one that is known of the event; UTC without one. */
export async function readZones(tx: Connection, json: unknown): Promise<(event: unknown) => string> {
  const listed = itemsOf(json, 'events').filter(({ raw }) => /"\d{4}-\d\d-\d\d"/.test(JSON.stringify(raw)))
  if (listed.length === 0) return () => 'UTC'
  const ids = listed.map(({ raw }) => ({ id: eventIdOf(raw) }))
  const named = listed.map(({ raw }) => ({ id: textIn(raw, 'location_id') }))
  const { id, timezone } = locations
  const known = await tx
    .select({ id, timezone, eventId: events.id })
    .from(locations)
    .leftJoin(events, and(eq(events.locationId, id), among(events.id, ids)))
    .where(or(among(id, named), isNotNull(events.id)))
  const placeOf = new Map(known.map(({ eventId, id }) => [eventId, id]))
  const zones = new Map<string, unknown>(known.map(({ id, timezone }) => [id, timezone]))
  for (const { raw } of itemsOf(json, 'locations')) {
    const timezone = fieldOf(raw, 'timezone')
    if (timezone !== undefined) zones.set(textIn(raw, '_id'), timezone)
  }
  return (raw) => {
    const isAbsent = fieldOf(raw, 'location_id') === undefined
    const zone = zones.get((isAbsent ? placeOf.get(eventIdOf(raw)) : textIn(raw, 'location_id')) ?? '')
    return typeof zone === 'string' && isTimezone(zone) ? zone : 'UTC'
  }
}

// A file of more objects is read with a statement per table, none of which then takes too long.
const manyObjects = 5_000

/** Reads the existing rows. `timezones` are those of `findTimezones`. */
export async function findExisting(
  tx: Connection,
  catalogue: Catalogue,
  timezones: Set<string>,
): Promise<Existing> {
  const byId = <Row extends Named>(rows: Row[]) => new Map(rows.map((row) => [row.id, row]))
  const owners = [...catalogue.locations, ...catalogue.events].map(({ organizationId }) => ({
    id: organizationId,
  }))
  const venues = catalogue.events.map(({ input }) => ({ id: input.location_id ?? '' }))
  const { id, currency, decimals } = organizations
  const isNamed = among(id, [...catalogue.organizations, ...owners])
  const known = await tx.select({ id, currency, decimals }).from(organizations).where(isNamed)
  const rateOwner = { id: ticketRates.id, organizationId: ticketRates.organizationId }
  const rateIds = catalogue.discounts.flatMap(({ input }) => input.ticket_rate_ids ?? [])
  const isDiscounted = sql`${ticketRates.id} = any(${sql.param(rateIds)}::text[])`
  const discounted =
    rateIds.length > 0 ? await tx.select(rateOwner).from(ticketRates).where(isDiscounted) : []

  // Rows with these ids, and all rows under these parents.
  function select(kind: Kind, parent: PgColumn, named: Named[], parents?: Named[]): SQL {
    const table = tables[kind]
    const place = 'removed' in table ? sql`${table.position}, ${table.removed}` : sql`0, false`
    const isMeant = or(among(table.id, named), parents && among(parent, parents))
    return sql`select ${sql.raw(`'${kind}'`)}, ${table.id}, ${parent}, ${place} from ${table} where ${isMeant}`
  }
  const { events: listed, ticketRates: rates } = catalogue
  // Rates, prices and discounts share the id space of `stock`, so none may use an id of another.
  const stocked = [...rates, ...catalogue.prices, ...catalogue.discounts]
  const reads = [
    select('locations', locations.organizationId, [...catalogue.locations, ...venues]),
    select('events', events.organizationId, listed),
    select('discounts', discounts.organizationId, stocked, catalogue.organizations),
    select('ticketRates', ticketRates.eventId, stocked, listed),
    select('prices', prices.ticketRateId, stocked, rates),
    select('supplements', supplements.ticketRateId, catalogue.supplements, rates),
    select('questions', questions.ticketRateId, catalogue.questions, rates),
  ]
  const isLarge = stocked.length + catalogue.supplements.length + catalogue.questions.length > manyObjects
  let found: (ExistingChild & { kind: string })[] = []
  for (const read of isLarge ? reads : [sql.join(reads, sql` union all `)])
    found = found.concat(
      await runSql(tx, sql`select * from (${read}) as found(kind, id, "parentId", position, removed)`),
    )
  const rowsOf = (kind: string) => byId<ExistingChild>(found.filter((row) => row.kind === kind))
  const children = Object.fromEntries(Object.keys(tables).map((kind) => [kind, rowsOf(kind)]))
  return {
    ...(children as Record<Kind, ReturnType<typeof rowsOf>>),
    ...{ timezones, organizations: byId(known), discounted: byId(discounted) },
  }
}
