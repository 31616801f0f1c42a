import { or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Connection } from '../../database/database.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import { isTimezone } from './fields.ts'
import { type Catalogue, eventIdOf, fieldOf, itemsOf, textIn } from './read-catalogue.ts'

/** Existing row of an object that is listed under a parent. */
export type ExistingChild = { id: string; parentId: string; position: number; removed: boolean }

/** Existing rows of what a file names, and of their siblings, by id. */
export type Existing = {
  /** Time zones of the file that the database knows. */
  timezones: Set<string>
  /** Currency of each organization that the file names or refers to. */
  organizations: Map<string, string>
  /** Decimals that the amounts of each of them are stored with, where they are written. */
  decimals: Map<string, number>
  /** Organization of each location. */
  locations: Map<string, string>
  /** Organization of each event. */
  events: Map<string, string>
  /** Organization of each rate that a discount of the file is for. */
  rateOrganizations: Map<string, string>
} & Record<'discounts' | 'ticketRates' | 'prices' | 'supplements' | 'questions', Map<string, ExistingChild>>

export type ChildTable =
  | typeof discounts
  | typeof ticketRates
  | typeof prices
  | typeof supplements
  | typeof questions

type Named = { id: string }

/** Condition that a column is one of these ids, with one parameter for any number of them. */
export const among = (column: PgColumn, named: Named[]): SQL =>
  sql`${column} = any(${sql.param([...new Set(named.map(({ id }) => id))])}::text[])`

/** Reads the time zones of the venues of a file's events: of the location that the file names, else of the one
 *  that is known of the event; UTC without one. */
export async function readZones(tx: Connection, json: unknown): Promise<(event: unknown) => string> {
  const listed = itemsOf(json, 'events', []).map(({ raw }) => ({ id: eventIdOf(raw) }))
  const { id, locationId } = events
  const placed = await tx.select({ id, locationId }).from(events).where(among(id, listed))
  const placeOf = new Map(placed.map(({ id, locationId }) => [id, locationId]))
  const named = itemsOf(json, 'events', []).map(({ raw }) => ({ id: textIn(raw, 'location_id') }))
  const known = await tx
    .select({ id: locations.id, timezone: locations.timezone })
    .from(locations)
    .where(among(locations.id, [...named, ...placed.map(({ locationId }) => ({ id: locationId ?? '' }))]))
  const zones = new Map<string, unknown>(known.map(({ id, timezone }) => [id, timezone]))
  for (const { raw } of itemsOf(json, 'locations', [])) {
    const timezone = fieldOf(raw, 'timezone')
    if (timezone !== undefined) zones.set(textIn(raw, '_id'), timezone)
  }
  return (raw) => {
    const isAbsent = fieldOf(raw, 'location_id') === undefined
    const zone = zones.get((isAbsent ? placeOf.get(eventIdOf(raw)) : textIn(raw, 'location_id')) ?? '')
    return typeof zone === 'string' && isTimezone(zone) ? zone : 'UTC'
  }
}

/** Reads the existing rows, with one statement per table. */
export async function findExisting(tx: Connection, catalogue: Catalogue): Promise<Existing> {
  const referred = (kind: 'organization' | 'location') =>
    catalogue.references.filter((reference) => reference.kind === kind)
  const organizationRows = await tx
    .select({ id: organizations.id, currency: organizations.currency, decimals: organizations.decimals })
    .from(organizations)
    .where(among(organizations.id, [...catalogue.organizations, ...referred('organization')]))

  async function readOwners(table: typeof locations | typeof events | typeof ticketRates, named: Named[]) {
    const { id, organizationId } = table
    const rows = await tx.select({ id, organizationId }).from(table).where(among(id, named))
    return new Map(rows.map(({ id, organizationId }) => [id, organizationId]))
  }

  // Rows with these ids, and all rows under these parents.
  async function readChildren(
    table: ChildTable,
    parent: PgColumn,
    named: Named[],
    parents: Named[],
  ): Promise<Map<string, ExistingChild>> {
    const { id, position, removed } = table
    const rows = await tx
      .select({ id, parentId: sql<string>`${parent}`, position, removed })
      .from(table)
      .where(or(among(id, named), among(parent, parents)))
    return new Map(rows.map((row) => [row.id, row]))
  }

  const timezones = catalogue.locations.flatMap(({ input }) => input.timezone ?? [])
  // Reads a file for each zone, which an import without locations need not wait for.
  const known =
    timezones.length > 0 ? await tx.select({ name: sql<string>`name` }).from(sql`pg_timezone_names`) : []
  // Rates, prices and discounts share the id space of `stock`, so none may use an id of another.
  const rates = catalogue.ticketRates
  const stocked = [...rates, ...catalogue.prices, ...catalogue.discounts]
  return {
    timezones: new Set(known.map(({ name }) => name)),
    organizations: new Map(organizationRows.map(({ id, currency }) => [id, currency])),
    decimals: new Map(
      organizationRows.flatMap(({ id, decimals }) => (decimals === null ? [] : [[id, decimals]])),
    ),
    locations: await readOwners(locations, [...catalogue.locations, ...referred('location')]),
    events: await readOwners(events, catalogue.events),
    rateOrganizations: await readOwners(
      ticketRates,
      catalogue.discounts.flatMap(({ input }) => (input.ticket_rate_ids ?? []).map((id) => ({ id }))),
    ),
    discounts: await readChildren(discounts, discounts.organizationId, stocked, catalogue.organizations),
    ticketRates: await readChildren(ticketRates, ticketRates.eventId, stocked, catalogue.events),
    prices: await readChildren(prices, prices.ticketRateId, stocked, rates),
    supplements: await readChildren(supplements, supplements.ticketRateId, catalogue.supplements, rates),
    questions: await readChildren(questions, questions.ticketRateId, catalogue.questions, rates),
  }
}
