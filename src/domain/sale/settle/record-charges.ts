import { sql } from 'drizzle-orm'
import { arrayRows, columnsOf, list, typesOf } from '../../../data/array-params.ts'
import { query } from '../../../data/query.ts'
import type { Connection } from '../../../database/database.ts'
import { newId } from '../../../shared/ids.ts'
import { ownProvider } from '../../payment/provider.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'

/** Charge to be recorded. Amount in minor units. */
export type NewCharge = Omit<Charge, 'createdAt'>

const newCharges = arrayRows('reported', typesOf(charges, { except: ['createdAt'] }))

const record = query<{ id: string }>(
  'record_charges',
  () => sql`
  insert into ${charges} (${columnsOf(charges, newCharges.cells)})
  select ${list(Object.values(newCharges.cells))} from ${newCharges.rows}
  on conflict do nothing returning id`,
)

/** Records charges, once per provider reference. Returns those that were not known before. */
export async function recordCharges(tx: Connection, reported: Omit<NewCharge, 'id'>[]): Promise<NewCharge[]> {
  const rows = reported.map((charge) => ({ id: newId('cha'), ...charge }))
  const inserted = new Set((await record(tx, newCharges.values(rows))).map(({ id }) => id))
  return rows.filter(({ id }) => inserted.has(id))
}

/** Records what the box office took for these payments, so that refunds have a charge to be taken from. The
 *  others, and those with a total of 0, have no charge. */
export async function chargeAtBoxOffice(tx: Connection, payments: Payment[]): Promise<void> {
  const taken = payments.filter(({ method, totalAmount }) => method !== null && totalAmount > 0)
  if (taken.length === 0) return
  await recordCharges(
    tx,
    taken.map(({ id, organizationId, totalAmount, currency }) => ({
      organizationId,
      paymentId: id,
      provider: ownProvider,
      reference: id,
      amount: totalAmount,
      currency,
    })),
  )
}
