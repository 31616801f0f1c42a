import { or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Connection } from '../../database/database.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'

/** A row that an import meets: whose it is, and where it stands. */
export type ExistingChild = { id: string; parentId: string; position: number; removed: boolean }

/** What the database has of what a file names, by id, and of what is listed beside it. */
export type Existing = {
  /** The currency of each organization that the file names or refers to. */
  organizations: Map<string, string>
  /** The organization of each. */
  locations: Map<string, string>
  events: Map<string, string>
  ticketRates: Map<string, ExistingChild>
  prices: Map<string, ExistingChild>
  supplements: Map<string, ExistingChild>
  questions: Map<string, ExistingChild>
}

/** One parameter for any number of values. */
export const among = (column: PgColumn, values: Iterable<string>): SQL =>
  sql`${column} = any(${sql.param([...new Set(values)])}::text[])`

const ids = (entries: Entry<unknown>[]) => entries.map(({ id }) => id)

/** Reads all of it in one statement a table. */
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

  // The rows of these ids, and those of these parents.
  async function children(
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

  // A rate and a price have a row of stock under their ids, so neither may take the other's.
  const stocked = [...ids(catalogue.ticketRates), ...ids(catalogue.prices)]
  return {
    organizations: new Map(organizationRows.map(({ id, currency }) => [id, currency])),
    locations: new Map(locationRows.map(({ id, organizationId }) => [id, organizationId])),
    events: new Map(eventRows.map(({ id, organizationId }) => [id, organizationId])),
    ticketRates: await children(ticketRates, ticketRates.eventId, stocked, catalogue.events),
    prices: await children(prices, prices.ticketRateId, stocked, catalogue.ticketRates),
    supplements: await children(
      supplements,
      supplements.ticketRateId,
      ids(catalogue.supplements),
      catalogue.ticketRates,
    ),
    questions: await children(
      questions,
      questions.ticketRateId,
      ids(catalogue.questions),
      catalogue.ticketRates,
    ),
  }
}
