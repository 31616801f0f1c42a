import { and, eq, inArray } from 'drizzle-orm'
import { inSeconds } from '../../../database/clock.ts'
import type { Connection } from '../../../database/database.ts'
import { payments } from '../../payment/table.ts'
import { canBecome, mayBecome } from '../../payment/transitions.ts'
import { type Ending, releaseHolds } from '../release/release-holds.ts'
import type { LockedSettlement, SettledStatuses } from './settlement.ts'

// A provider that has not decided by then is given up on: a charge after that is late.
const maxProcessingSeconds = 7 * 24 * 3600

async function startProcessing(tx: Connection, undecided: LockedSettlement[]): Promise<string[]> {
  const [first] = undecided
  if (!first) return []
  const ids = undecided.map(({ payment }) => payment.id)
  const processing = await tx
    .update(payments)
    .set({ status: 'processing', expiresAt: inSeconds(maxProcessingSeconds) })
    .where(
      and(
        eq(payments.organizationId, first.payment.organizationId),
        inArray(payments.id, ids),
        canBecome('processing'),
      ),
    )
    .returning({ id: payments.id })
  return processing.map(({ id }) => id)
}

function toEnding({ settlement: { outcome }, payment }: LockedSettlement): Ending[] {
  if (outcome.kind !== 'ended') return []
  const { id, organizationId, isOverdue } = payment
  const status = payment.status === 'pending' && isOverdue ? 'expired' : outcome.status
  return mayBecome(payment.status, status) ? [{ id, organizationId, status }] : []
}

/** Ends locked payments of one rate without a charge, or makes them `processing`. Transitions that a
 *  payment's status does not allow change nothing. A pending payment that is overdue by the database's clock
 *  expires (DECISIONS 5). */
export async function endUnpaid(tx: Connection, settlements: LockedSettlement[]): Promise<SettledStatuses> {
  const statuses = new Map(settlements.map(({ payment }) => [payment.id, payment.status]))
  const undecided = settlements.filter(({ settlement }) => settlement.outcome.kind === 'processing')
  const processing = await startProcessing(tx, undecided)
  for (const id of processing) statuses.set(id, 'processing')
  const endings = settlements.flatMap(toEnding)
  for (const { id, status } of endings) statuses.set(id, status)
  await releaseHolds(tx, endings)
  return statuses
}
