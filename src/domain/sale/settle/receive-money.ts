import { and, eq, exists, inArray, ne, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { arrayRows, columnsOf, list, typesOf } from '../../../data/array-params.ts'
import { preparedSql } from '../../../data/prepared.ts'
import type { Connection } from '../../../database/database.ts'
import { newId, newQrCode } from '../../../shared/ids.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'
import { mayBecome } from '../../payment/transitions.ts'
import { tickets } from '../../ticket/table.ts'
import { queueRefunds, type UnearnedCharge } from '../refund/queue-refund.ts'
import { findSold, type SoldTicket } from './find-sold.ts'
import { type Payable, recordPaid } from './record-paid.ts'
import { refuseMismatch, surplusOf } from './refuse-mismatch.ts'
import { endsSession, isLate, isOwn, type LockedSettlement, settlesAlone } from './settlement.ts'

/** How payments stand after something became of them, by their ids, and whether that must show at once: then
 *  `touchCatalogue` once it is committed. */
export type Received = { statuses: Map<string, Payment['status']>; touched: boolean }

type NewCharge = Omit<Charge, 'createdAt'>

// Codes that expired tickets had may have been given to others meanwhile: these get new ones.
async function renewTakenCodes(tx: Connection, paymentIds: string[]): Promise<void> {
  const other = alias(tickets, 'other')
  const taken = await tx
    .select({ id: tickets.id })
    .from(tickets)
    .where(
      and(
        inArray(tickets.paymentId, paymentIds),
        exists(
          tx
            .select({ one: sql`1` })
            .from(other)
            .where(
              and(
                eq(other.eventId, tickets.eventId),
                eq(other.qrCode, tickets.qrCode),
                ne(other.status, 'expired'),
                ne(other.id, tickets.id),
              ),
            ),
        ),
      ),
    )
  for (const { id } of taken) await tx.update(tickets).set({ qrCode: newQrCode() }).where(eq(tickets.id, id))
}

const told = arrayRows('told', typesOf(charges, { except: ['createdAt'] }))

const record = preparedSql<{ id: string }>(
  'record_charges',
  () => sql`
  insert into ${charges} (${columnsOf(charges, told.cells)})
  select ${list(Object.values(told.cells))} from ${told.rows}
  on conflict do nothing returning id`,
)

// Money that is told for the first time, by its payment.
async function recordCharges(
  tx: Connection,
  settlements: LockedSettlement[],
): Promise<Map<string, NewCharge>> {
  const news = settlements.flatMap(({ settlement: { outcome }, payment }): NewCharge[] =>
    outcome.kind === 'paid' ? [{ id: newId('cha'), paymentId: payment.id, ...outcome.money }] : [],
  )
  const made = new Set((await record(tx, told.values(news))).map(({ id }) => id))
  return new Map(news.flatMap((charge) => (made.has(charge.id) ? [[charge.paymentId, charge]] : [])))
}

const reasonAgainst = (payment: Payment, charge: NewCharge): UnearnedCharge['reason'] | null => {
  const { status } = payment
  if (surplusOf(payment, charge) === null) return 'AMOUNT_MISMATCH'
  if (mayBecome(status, 'paid')) return null
  return status === 'cancelled' ? 'CANCELLED' : 'PAID_TWICE'
}

async function payablesOf(
  tx: Connection,
  open: LockedSettlement[],
  from: 'held' | 'expired',
): Promise<Payable<SoldTicket>[]> {
  if (open.length === 0) return []
  const sold = await findSold(
    tx,
    open.map(({ payment }) => payment.id),
    from,
  )
  return open.map((locked) => ({
    payment: locked.payment,
    tickets: sold.get(locked.payment.id) ?? [],
    endsSession: endsSession(locked.settlement) && isOwn(locked),
  }))
}

/** Takes note of money for payments of one rate, in the transaction of whatever told of it, once for each reference. It
 *  pays what is open, all of it together; what is over it claims again, and goes back by itself where there are not
 *  enough places left. It goes back as well where the checkout was cancelled, where it was paid already (DECISIONS 5),
 *  and where it is less than was asked for or of another currency; of more than was asked for the surplus goes back
 *  (DECISIONS 11). Late and mismatching money comes alone: see settlesAlone. */
export async function receiveMoney(tx: Connection, settlements: LockedSettlement[]): Promise<Received> {
  if (settlements.length > 1 && settlements.some(settlesAlone))
    throw new Error('money was received together with other money that it has to come before or after')
  const statuses = new Map(settlements.map(({ payment }) => [payment.id, payment.status]))
  const chargeOf = await recordCharges(tx, settlements)
  const news = settlements.flatMap((locked) => {
    const charge = chargeOf.get(locked.payment.id)
    return charge ? [{ ...locked, charge, reason: reasonAgainst(locked.payment, charge) }] : []
  })
  const unearned = news.flatMap(({ payment, charge, reason }): UnearnedCharge[] =>
    reason ? [{ payment, charge, reason }] : [],
  )
  const open = news.filter(({ reason }) => !reason)
  const from = open.some(isLate) ? 'expired' : 'held'
  if (from === 'expired')
    await renewTakenCodes(
      tx,
      open.map(({ payment }) => payment.id),
    )
  const paid = await recordPaid(tx, await payablesOf(tx, open, from), from)
  for (const { payment, charge } of open) {
    const surplus = surplusOf(payment, charge) ?? 0
    if (!paid) unearned.push({ payment, charge, reason: 'LATE_NO_CAPACITY' })
    else if (surplus > 0)
      unearned.push({ payment, charge: { ...charge, amount: surplus }, reason: 'AMOUNT_MISMATCH' })
  }
  await queueRefunds(tx, unearned)
  for (const { payment } of paid?.paid ?? []) statuses.set(payment.id, payment.status)
  let touched = (paid?.flipped ?? []).length > 0
  for (const { payment, reason } of news)
    if (reason === 'AMOUNT_MISMATCH') {
      const refused = await refuseMismatch(tx, payment)
      statuses.set(payment.id, refused.status)
      touched ||= refused.touched
    }
  return { statuses, touched }
}
