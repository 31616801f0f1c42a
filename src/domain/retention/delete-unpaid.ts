import { and, asc, eq, isNull, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { hasKey } from '../../engine/data/query.ts'
import type { Connection, Database } from '../../engine/database/database.ts'
import { transaction } from '../../engine/database/transaction.ts'
import { checkIns, redemptions } from '../check-in/table.ts'
import { deliveries } from '../delivery/table.ts'
import { invoices } from '../invoice/table.ts'
import { arePayments } from '../payment/lock-payment.ts'
import { charges, idempotencyKeys, payments, providerEvents } from '../payment/table.ts'
import { refunds } from '../refund/table.ts'
import { anonymized } from '../ticket/anonymized.ts'
import { isPaymentOfTicket, retiredDocuments, tickets } from '../ticket/table.ts'
import { anonymizeTickets } from './anonymize-tickets.ts'
import { isOfOrganization } from './find-person.ts'

const batchSize = 200

// An open session may still lead to a charge.
const isOver = and(
  isNull(payments.paidAt),
  notInArray(payments.status, ['pending', 'processing']),
  eq(payments.sessionOpen, false),
)

async function lockUnpaid(tx: Connection, organizationId: string, days: number): Promise<string[]> {
  const isOld = sql`${tickets.ended} = 'expired' and ${tickets.email} <> ${anonymized}
    and ${tickets.createdAt} < now() - ${days} * interval '1 day'`
  const old = tx
    .select({ paymentId: tickets.paymentId })
    .from(tickets)
    .innerJoin(payments, isPaymentOfTicket)
    .where(and(isOfOrganization(organizationId), eq(payments.organizationId, organizationId), isOld, isOver))
    .limit(batchSize)
  const found = [...new Set((await old).map(({ paymentId }) => paymentId))]
  if (found.length === 0) return []
  const locked = await tx
    .select({ id: payments.id })
    .from(payments)
    .where(and(arePayments(tx, organizationId, found), isOver))
    .orderBy(asc(payments.id))
    .for('update', { skipLocked: true })
  return locked.map(({ id }) => id)
}

// Money that came too late, and scans of a ticket that was never paid, are facts that stay.
function isReferredTo(organizationId: string): SQL | undefined {
  const found = (table: PgTable & { organizationId: PgColumn }, isOf: SQL) =>
    sql`exists (select from ${table} where ${table.organizationId} = ${organizationId} and ${isOf})`
  return or(
    ...[charges, refunds, invoices, deliveries].map((table) =>
      found(table, sql`${table.paymentId} = ${tickets.paymentId}`),
    ),
    ...[checkIns, redemptions, retiredDocuments].map((table) =>
      found(table, sql`${table.ticketId} = ${tickets.id}`),
    ),
  )
}

/** Deletes checkouts of an organization that were never paid and began more than `days` ago, up to a batch,
 *  with their tickets and idempotency keys. One that money, a scan or a mail refers to is anonymized instead.
 *  Skips payments that are locked. Returns the number of payments, and what was anonymized (DECISIONS 169). */
export const deleteUnpaid = (db: Database, organizationId: string, days: number) =>
  transaction(db, async (tx) => {
    const ids = await lockUnpaid(tx, organizationId, days)
    if (ids.length === 0) return { payments: 0, tickets: [], deliveryIds: [] }
    const sold = await tx
      .select({
        id: tickets.id,
        paymentId: tickets.paymentId,
        isKept: sql<boolean>`${isReferredTo(organizationId)}`,
      })
      .from(tickets)
      .where(hasKey(tx, tickets.paymentId, organizationId, ids))
      .orderBy(asc(tickets.id))
      .for('update')
    const kept = new Set(sold.flatMap(({ paymentId, isKept }) => (isKept ? [paymentId] : [])))
    const keptTickets = sold.flatMap(({ id, paymentId }) => (kept.has(paymentId) ? [id] : []))
    const done = await anonymizeTickets(tx, organizationId, keptTickets)
    const gone = ids.filter((id) => !kept.has(id))
    if (gone.length > 0) {
      await tx.delete(idempotencyKeys).where(hasKey(tx, idempotencyKeys.paymentId, organizationId, gone))
      await tx
        .update(providerEvents)
        .set({ paymentId: null })
        .where(hasKey(tx, providerEvents.paymentId, organizationId, gone))
      await tx.delete(tickets).where(hasKey(tx, tickets.paymentId, organizationId, gone))
      await tx.delete(payments).where(arePayments(tx, organizationId, gone))
    }
    return { payments: ids.length, ...done }
  })
