import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { secondsFromNow } from '../../../database/clock.ts'
import { holds, openSessions } from './table.ts'

// Each goes into a statement that writes payments of one organization in a CTE, which must return the columns that
// are used here. The organization is a value, so that the statement goes to one server.

type Value = string | Placeholder

const isSessionOf = (name: string, organizationId: Value): SQL => {
  const of = sql.identifier(name)
  return sql`${openSessions.organizationId} = ${organizationId} and ${openSessions.provider} = ${of}.provider
    and ${openSessions.sessionId} = ${of}.session_id`
}

/** Takes the payments that a CTE has paid or ended out of the queue of holds. */
export const dropHolds = (name: string, organizationId: Value): SQL => {
  const of = sql.identifier(name)
  return sql`delete from ${holds} using ${of} where ${holds.organizationId} = ${organizationId}
    and ${holds.ticketRateId} = ${of}.ticket_rate_id and ${holds.expiresAt} = ${of}.expires_at
    and ${holds.paymentId} = ${of}.id`
}

// Shortly before the hold of a payment ends, so that nobody can pay for places that are gone, and at once if it has
// ended. A factor, because a cluster takes no `case` with a clock and columns in it.
const closeAt = secondsFromNow(
  sql`(status = 'pending')::integer * (extract(epoch from (expires_at - now())) - 5)`,
)

/** Puts the sessions of a CTE's payments into the queue of open ones, due to be closed shortly before their holds
 *  end. */
export const queueSessions = (name: string): SQL => sql`
  insert into ${openSessions} (organization_id, provider, session_id, payment_id, due_at)
  select organization_id, provider, session_id, id, ${closeAt} from ${sql.identifier(name)}`

/** Takes the sessions of a CTE's payments, or of those that match a condition, out of the queue of open ones. */
export const dropSessions = (name: string, organizationId: Value, condition = sql`true`): SQL =>
  sql`delete from ${openSessions} using ${sql.identifier(name)} where ${isSessionOf(name, organizationId)} and ${condition}`

/** Makes the open sessions of a CTE's payments due to be closed at once. */
export const closeSessionsNow = (name: string, organizationId: Value): SQL =>
  sql`update ${openSessions} set due_at = now() from ${sql.identifier(name)} where ${isSessionOf(name, organizationId)}`
