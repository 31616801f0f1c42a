import { and, eq, sql } from 'drizzle-orm'
import { groupBy } from '../../../engine/base/group-by.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { newQrCode } from '../../contract/ids.ts'
import type { Payment } from '../../payment/table.ts'
import { paymentMayBecome } from '../../payment/transitions.ts'
import { findTicketsOfPayments } from '../../ticket/loaders.ts'
import { isTicket } from '../../ticket/require-ticket.ts'
import { isNotExpired, tickets } from '../../ticket/table.ts'
import { queueRefunds, type UnearnedCharge } from '../refund/open-refunds.ts'
import { type Ending, releaseHolds } from '../release/release-holds.ts'
import { markPaid } from './mark-paid.ts'
import { type NewCharge, recordCharges } from './record-charges.ts'
import {
  endsSession,
  isLate,
  isOfCurrentSession,
  type LockedSettlement,
  mustSettleAlone,
  surplusOf,
} from './settlement.ts'

// Gives new codes to expired tickets of a payment whose codes other tickets have taken in the meantime.
async function renewTakenCodes(tx: Connection, { id: paymentId, organizationId }: Payment): Promise<void> {
  const isTaken = sql`exists (select from ${tickets} as other where other.organization_id = ${tickets.organizationId}
    and other.event_id = ${tickets.eventId} and other.qr_code = ${tickets.qrCode} and other.mode = ${tickets.mode}
    and other.id <> ${tickets.id} and ${isNotExpired(sql`other.ended`)})`
  const taken = await tx
    .select({ id: tickets.id })
    .from(tickets)
    .where(and(eq(tickets.organizationId, organizationId), eq(tickets.paymentId, paymentId), isTaken))
  for (const { id } of taken)
    await tx.update(tickets).set({ qrCode: newQrCode() }).where(isTicket({ id, organizationId }))
}

// Null if the charge can pay for its payment.
const refundReasonOf = (payment: Payment, charge: NewCharge): UnearnedCharge['reason'] | null => {
  const { status } = payment
  if (surplusOf(payment, charge) === null) return 'AMOUNT_MISMATCH'
  if (paymentMayBecome(status, 'paid')) return null
  return status === 'cancelled' ? 'PAID_AFTER_CANCELLATION' : 'PAID_TWICE'
}

async function loadPayables(tx: Connection, open: LockedSettlement[], from: 'held' | 'expired') {
  const [first] = open
  if (!first) return []
  const { organizationId } = first.payment
  const keys = open.map(({ payment }) => payment.id)
  const found = await findTicketsOfPayments(tx, { organizationId, keys })
  const due = groupBy(
    found.filter(({ status }) => status === from),
    ({ paymentId }) => paymentId,
  )
  return open.map((locked) => ({
    payment: locked.payment,
    tickets: due.get(locked.payment.id) ?? [],
    endsSession: endsSession(locked.settlement) && isOfCurrentSession(locked),
  }))
}

/** Records charges for payments of one organization, once per provider reference, in the transaction that settles
 *  them. Pays open payments together. A late charge takes the places again, and is refunded if there are not
 *  enough left. A charge is refunded, too, if the checkout was cancelled or is already paid (DECISIONS, states), or
 *  if the charge is too low or in another currency; if it is too high, the surplus is (DECISIONS 26). Late
 *  and mismatching charges come one at a time: see mustSettleAlone. */
export async function applyCharges(tx: Connection, settlements: LockedSettlement[]) {
  if (settlements.length > 1 && settlements.some(mustSettleAlone))
    throw new Error('a late or mismatching charge was received together with others')
  const reported = settlements.flatMap(({ settlement: { outcome }, payment }) =>
    outcome.kind === 'paid'
      ? [{ organizationId: payment.organizationId, paymentId: payment.id, ...outcome.money }]
      : [],
  )
  const chargeOf = new Map((await recordCharges(tx, reported)).map((charge) => [charge.paymentId, charge]))
  const charged = settlements.flatMap((locked) => {
    const charge = chargeOf.get(locked.payment.id)
    return charge ? [{ ...locked, charge, reason: refundReasonOf(locked.payment, charge) }] : []
  })
  const open = charged.filter(({ reason }) => !reason)
  const from = open.some(isLate) ? 'expired' : 'held'
  for (const { payment } of from === 'expired' ? open : []) await renewTakenCodes(tx, payment)
  const paid = await markPaid(tx, await loadPayables(tx, open, from), from)
  const unearned = charged.flatMap(({ payment, charge, reason }): UnearnedCharge[] => {
    if (reason) return [{ payment, charge, reason }]
    if (!paid) return [{ payment, charge, reason: 'LATE_NO_CAPACITY' }]
    const surplus = surplusOf(payment, charge) ?? 0
    return surplus > 0 ? [{ payment, charge: { ...charge, amount: surplus }, reason: 'AMOUNT_MISMATCH' }] : []
  })
  await queueRefunds(tx, unearned)
  // After a mismatching charge the session is over, and nobody can pay there any more. A matching charge that arrives
  // later still pays (DECISIONS 26).
  const failed = charged.flatMap(({ payment: { id, organizationId, status }, reason }): Ending[] =>
    reason === 'AMOUNT_MISMATCH' && paymentMayBecome(status, 'failed')
      ? [{ id, organizationId, status: 'failed' }]
      : [],
  )
  await releaseHolds(tx, failed)
  const settled = [...(paid ?? []).map(({ payment }) => payment), ...failed]
  return new Map(settled.map(({ id, status }) => [id, status]))
}
