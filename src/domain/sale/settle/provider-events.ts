import { sql } from 'drizzle-orm'
import { arrayRows, columnsOf, list, typesOf } from '../../../data/array-params.ts'
import { preparedSql, textParamAtStart } from '../../../data/prepared.ts'
import type { Connection } from '../../../database/database.ts'
import { beforeMade } from '../../../shared/ids.ts'
import { providerEvents } from '../../payment/table.ts'

type NewEvent = Omit<typeof providerEvents.$inferSelect, 'createdAt'>

const given = arrayRows('given', typesOf(providerEvents, { except: ['createdAt'] }))

// The key holds within a month. Beyond, whoever writes an event holds the lock of its payment, so that this
// statement sees what others wrote of it. None is older than its payment.
const insert = preparedSql<{ id: string }>(
  'insert_provider_events',
  () => sql`
  insert into ${providerEvents} (${columnsOf(providerEvents, given.cells)})
  select ${list(Object.values(given.cells))} from ${given.rows}
  where not exists (select from ${providerEvents} as known where known.organization_id = ${sql.placeholder('organizationId')}
    and known.provider = ${given.cells.provider} and known.id = ${given.cells.id}
    and known.created_at >= ${textParamAtStart('since')}::timestamptz and known.created_at < now() + interval '1 day')
  order by ${given.cells.id} on conflict do nothing returning ${providerEvents.id}`,
)

/** Records events of a provider about payments of one organization, or about refunds of them, and returns the ids of
 *  those that are new. Requires this transaction to hold the row lock of each payment. */
export async function recordNewEvents(
  tx: Connection,
  events: NewEvent[],
  paymentIds: string[],
): Promise<Set<string>> {
  const organizationId = events[0]?.organizationId
  const since = new Date(beforeMade(paymentIds)).toISOString()
  const inserted = await insert(tx, { organizationId, since, ...given.values(events) })
  return new Set(inserted.map(({ id }) => id))
}
