import { insertRows } from '../../../engine/data/array-params.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { newId } from '../../contract/ids.ts'
import { ownProvider } from '../../payment/provider.ts'
import { type Charge, charges, type Payment, providerEvents } from '../../payment/table.ts'

// Records charges and events that a provider or the box office reports, each once.

/** Charge to be recorded. Amount in minor units. */
export type NewCharge = Omit<Charge, 'createdAt'>

const insertCharges = insertRows('record_charges', charges, { key: 'id', skip: true })

/** Records events of a provider about payments of one organization, or about refunds of them, and returns the ids of
 *  those that are new. */
export const recordProviderEvents = insertRows('insert_provider_events', providerEvents, {
  key: 'id',
  skip: true,
})

/** Records charges, once per provider reference. Returns those that were not known before. */
export async function recordCharges(tx: Connection, reported: Omit<NewCharge, 'id'>[]): Promise<NewCharge[]> {
  const rows = reported.map((charge) => ({ id: newId('cha'), ...charge }))
  const inserted = await insertCharges(tx, rows)
  return rows.filter(({ id }) => inserted.has(id))
}

/** Records what the box office took for these payments, so that refunds have a charge to be taken from. The
 *  others, and those with a total of 0, have no charge. */
export async function chargeAtBoxOffice(tx: Connection, payments: Payment[]): Promise<void> {
  const taken = payments.flatMap(({ id, organizationId, method, totalAmount: amount, currency }) =>
    method !== null && amount > 0
      ? [{ organizationId, paymentId: id, provider: ownProvider, reference: id, amount, currency }]
      : [],
  )
  if (taken.length > 0) await recordCharges(tx, taken)
}
