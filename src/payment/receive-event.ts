import { eq } from 'drizzle-orm'
import { touchCatalogue } from '../catalogue-version.ts'
import type { Connection, Database } from '../database.ts'
import { settleRefund } from '../refund/settle-refund.ts'
import type { ProviderEvent } from './provider.ts'
import { settleSession } from './settle-session.ts'
import { payments, providerEvents } from './table.ts'

/** What was done with an event: it had its effect, it had had it before, it is of nothing that we know, or tells
 *  nothing that we need. */
export type Received = 'done' | 'repeated' | 'unknown' | 'ignored'

// Whether it is told for the first time. Another transaction that has just written the same is waited for.
async function isNew(
  tx: Connection,
  provider: string,
  { id, type }: ProviderEvent,
  paymentId: string | null,
): Promise<boolean> {
  const written = await tx
    .insert(providerEvents)
    .values({ provider, id, type, paymentId })
    .onConflictDoNothing()
    .returning({ id: providerEvents.id })
  return written.length > 0
}

/** Takes note of what a provider tells by itself, in one transaction with its effect: so it has that once, however
 *  often it is told. What comes in another order than it happened changes only what it still may (see settle). */
export async function receiveEvent(db: Database, provider: string, event: ProviderEvent): Promise<Received> {
  const { about } = event
  if (!about) return 'ignored'
  const { received, touched } = await db.transaction(async (tx) => {
    const none = (received: Received) => ({ received, touched: false })
    if (about.kind === 'refund') {
      if (!(await isNew(tx, provider, event, null))) return none('repeated')
      return none((await settleRefund(tx, about, about.outcome)) ? 'done' : 'unknown')
    }
    // Locked before anything refers to it: two that only did so would wait for each other's lock.
    const [payment] = await tx
      .select({ id: payments.id })
      .from(payments)
      .where(eq(payments.id, about.paymentId))
      .for('update')
    if (!payment) return none('unknown')
    if (!(await isNew(tx, provider, event, payment.id))) return none('repeated')
    const settled = await settleSession(tx, payment.id, about.id, about.outcome)
    return { received: 'done' as const, touched: settled.touched }
  })
  if (touched) touchCatalogue(db)
  return received
}
