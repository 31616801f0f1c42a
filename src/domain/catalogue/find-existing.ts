import { or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Connection } from '../../database/database.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'

/** Existing row of an object that is listed under a parent. */
export type ExistingChild = { id: string; parentId: string; position: number; removed: boolean }

/** Existing rows of what a file names, and of their siblings, by id. */
export type Existing = {
  /** Currency of each organization that the file names or refers to. */
  organizations: Map<string, string>
  /** Organization of each location. */
  locations: Map<string, string>
  /** Organization of each event. */
  events: Map<string, string>
  ticketRates: Map<string, ExistingChild>
  prices: Map<string, ExistingChild>
  supplements: Map<string, ExistingChild>
  questions: Map<string, ExistingChild>
}

/** Condition `column = any(values)`, with one parameter for any number of values. */
export const among = (column: PgColumn, values: Iterable<string>): SQL =>
  sql`${column} = any(${sql.param([...new Set(values)])}::text[])`

const ids = (entries: Entry<unknown>[]) => entries.map(({ id }) => id)

/** Reads the existing rows, with one statement per table. */
export async function findExisting(tx: Connection, catalogue: Catalogue): Promise<Existing> {
  const referred = (kind: 'organization' | 'location') =>
    catalogue.references.flatMap((reference) => (reference.kind === kind ? reference.id : []))
  const organizationRows = await tx
    .select({ id: organizations.id, currency: organizations.currency })
    .from(organizations)
    .where(among(organizations.id, [...ids(catalogue.organizations), ...referred('organization')]))
  const locationRows = await tx
    .select({ id: locations.id, organizationId: locations.organizationId })
    .from(locations)
    .where(among(locations.id, [...ids(catalogue.locations), ...referred('location')]))
  const eventRows = await tx
    .select({ id: events.id, organizationId: events.organizationId })
    .from(events)
    .where(among(events.id, ids(catalogue.events)))

  // Rows with these ids, and all rows under these parents.
  async function readChildren(
    table: typeof ticketRates | typeof prices | typeof supplements | typeof questions,
    parent: PgColumn,
    own: string[],
    parents: Entry<unknown>[],
  ): Promise<Map<string, ExistingChild>> {
    const rows = await tx
      .select({
        id: table.id,
        parentId: sql<string>`${parent}`,
        position: table.position,
        removed: table.removed,
      })
      .from(table)
      .where(or(among(table.id, own), among(parent, ids(parents))))
    return new Map(rows.map((row) => [row.id, row]))
  }

  // Rates and prices share the id space of `stock`, so neither may use an id of the other.
  const stocked = [...ids(catalogue.ticketRates), ...ids(catalogue.prices)]
  return {
    organizations: new Map(organizationRows.map(({ id, currency }) => [id, currency])),
    locations: new Map(locationRows.map(({ id, organizationId }) => [id, organizationId])),
    events: new Map(eventRows.map(({ id, organizationId }) => [id, organizationId])),
    ticketRates: await readChildren(ticketRates, ticketRates.eventId, stocked, catalogue.events),
    prices: await readChildren(prices, prices.ticketRateId, stocked, catalogue.ticketRates),
    supplements: await readChildren(
      supplements,
      supplements.ticketRateId,
      ids(catalogue.supplements),
      catalogue.ticketRates,
    ),
    questions: await readChildren(
      questions,
      questions.ticketRateId,
      ids(catalogue.questions),
      catalogue.ticketRates,
    ),
  }
}
