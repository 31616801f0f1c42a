import { sql } from 'drizzle-orm'
import { arrayRows } from '../../../engine/data/array-params.ts'
import { hasKey, inOrganization, query } from '../../../engine/data/query.ts'
import type { Connection } from '../../../engine/database/database.ts'
import type { Mode } from '../../caller/mode.ts'
import type { Payment } from '../table.ts'
import { expiries, openSessions } from './table.ts'

// Both queues follow payments of one organization, in the transaction that writes them.

const ended = arrayRows('ended', {
  paymentId: 'text',
  priceId: 'text',
  mode: 'key_mode',
  expiresAt: 'float8',
})

// Times in milliseconds: a Citus cluster refuses to delete by a function of a column that depends on the session's time zone.
const drop = query(
  'drop_expiries',
  () => sql`
  delete from ${expiries} using ${ended.typed}
  where ${inOrganization(expiries.organizationId)} and ${expiries.priceId} = ended."priceId" and ${expiries.mode} = ended.mode
    and ${expiries.expiresAt} = to_timestamp(ended."expiresAt" / 1000)::timestamptz(3) and ${expiries.paymentId} = ended."paymentId"`,
)

/** Takes payments of one organization that are paid or have ended, and the prices of their tickets, out of the queue of ends of
 *  holds. `payments` have the ends of their holds. */
export async function dropExpiries(
  tx: Connection,
  payments: Pick<Payment, 'id' | 'organizationId' | 'expiresAt'>[],
  tickets: { paymentId: string; priceId: string; mode: Mode }[],
): Promise<void> {
  const [first] = payments
  if (!first) return
  const ends = new Map(payments.map(({ id, expiresAt }) => [id, expiresAt.getTime()]))
  const rows = tickets.map((ticket) => ({ ...ticket, expiresAt: ends.get(ticket.paymentId) }))
  await drop(tx, { organizationId: first.organizationId, ...ended.values(rows) })
}

type InSession = Pick<Payment, 'organizationId' | 'sessionId'>

// Condition that matches the queued sessions of payments; null if none was ever sent to one.
function areSessionsOf(tx: Connection, payments: InSession[]) {
  const ids = payments.flatMap(({ sessionId }) => sessionId ?? [])
  const [first] = payments
  if (!first || ids.length === 0) return null
  return hasKey(tx, openSessions.sessionId, first.organizationId, ids)
}

/** Puts the session of a payment into the queue of open ones, due to be closed shortly before its hold ends, so that
 *  nobody can pay for places that are gone, and at once if it has ended. */
export async function queueSession(tx: Connection, payment: Payment): Promise<void> {
  const { id: paymentId, organizationId, provider, sessionId, status, expiresAt } = payment
  if (sessionId === null) return
  const dueAt = status === 'pending' ? new Date(expiresAt.getTime() - 5_000) : sql`now()`
  await tx.insert(openSessions).values({ organizationId, provider, sessionId, paymentId, dueAt })
}

/** Takes the open sessions of payments out of the queue. */
export async function dropSessions(tx: Connection, payments: InSession[]): Promise<void> {
  const areTheirs = areSessionsOf(tx, payments)
  if (areTheirs) await tx.delete(openSessions).where(areTheirs)
}

/** Makes the open sessions of payments due to be closed at once. */
export async function closeSessionsNow(tx: Connection, payments: InSession[]): Promise<void> {
  const areTheirs = areSessionsOf(tx, payments)
  if (areTheirs) await tx.update(openSessions).set({ dueAt: sql`now()` }).where(areTheirs)
}
