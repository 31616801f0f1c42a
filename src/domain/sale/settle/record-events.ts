import { sql } from 'drizzle-orm'
import { arrayRows, columnsOf, list, typesOf } from '../../../data/array-params.ts'
import { query } from '../../../data/query.ts'
import type { Connection } from '../../../database/database.ts'
import { providerEvents } from '../../payment/table.ts'

type NewEvent = Omit<typeof providerEvents.$inferSelect, 'createdAt'>

const given = arrayRows('given', typesOf(providerEvents, { except: ['createdAt'] }))

const insert = query<{ id: string }>(
  'insert_provider_events',
  () => sql`
  insert into ${providerEvents} (${columnsOf(providerEvents, given.cells)})
  select ${list(Object.values(given.cells))} from ${given.rows}
  order by ${given.cells.id} on conflict do nothing returning ${providerEvents.id}`,
)

/** Records events of a provider about payments of one organization, or about refunds of them, and returns the ids of
 *  those that are new. */
export async function recordNewEvents(tx: Connection, events: NewEvent[]): Promise<Set<string>> {
  const inserted = await insert(tx, given.values(events))
  return new Set(inserted.map(({ id }) => id))
}
