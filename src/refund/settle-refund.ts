import { and, eq, sql } from 'drizzle-orm'
import type { Connection } from '../database.ts'
import type { RefundOutcome } from '../payment/provider.ts'
import { type Refund, refunds } from './table.ts'

/** A refund by our own identifier, or by what its provider calls it. */
export type RefundName = { id: string } | { reference: string }

function changeOf(outcome: RefundOutcome) {
  if (outcome.kind === 'failed') return { status: 'failed', lastError: outcome.code } as const
  const { reference } = outcome
  if (outcome.kind === 'pending') return { reference, lastError: null }
  return { status: 'succeeded', reference, lastError: null, succeededAt: sql`now()` } as const
}

/** Lets a refund become what its provider says, in a transaction of the caller's. It is decided once: what is told again or
 *  too late changes nothing. Gives the refund as it is now; null where there is none. */
export async function settleRefund(
  tx: Connection,
  name: RefundName,
  outcome: RefundOutcome,
): Promise<Refund | null> {
  const isNamed = 'id' in name ? eq(refunds.id, name.id) : eq(refunds.reference, name.reference)
  await tx
    .update(refunds)
    .set(changeOf(outcome))
    .where(and(isNamed, eq(refunds.status, 'pending')))
  const [found] = await tx.select().from(refunds).where(isNamed)
  return found ?? null
}
