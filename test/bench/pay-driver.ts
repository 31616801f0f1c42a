import type { Sql } from 'postgres'
import { pay } from './bare-payment.ts'

export type PayTask = { clients: number; seconds: number }

// The yardstick of payments without pgbench: the transaction run directly by the driver.

type Due = Record<'payment_id' | 'organization_id' | 'rate_id' | 'price_id' | 'amount' | 'currency', string>
type Taken = { year: number; invoice_number: number; reference: string }

const insertInvoice = pay.insertInvoice(
  '$1',
  { organizationId: '$2', paymentId: '$3', amount: '$4', currency: '$5' },
  { year: '$6', number: '$7', reference: '$8' },
)

/** Pays the payment with this number in the list. Throws if it was paid before or does not exist. */
export async function payOnce(sql: Sql, number: number, client: number): Promise<void> {
  const prepare = { prepare: true }
  await sql.begin(async (tx) => {
    const [due] = await tx.unsafe<Due[]>(pay.lockPayment('$1::integer'), [number], prepare)
    if (!due) throw new Error(`payment ${number} of the list was paid before, or is not there`)
    const { payment_id: id, organization_id: organizationId } = due
    await tx.unsafe(pay.moveStock('$1', '$2'), [due.rate_id, due.price_id], prepare)
    const [taken] = await tx.unsafe<Taken[]>(pay.takeNumber('$1'), [organizationId], prepare)
    if (!taken) throw new Error('the organization has no series')
    const { year, invoice_number, reference } = taken
    const values = [
      String(client),
      organizationId,
      id,
      due.amount,
      due.currency,
      year,
      invoice_number,
      reference,
    ]
    await tx.unsafe(insertInvoice, values, prepare)
    await tx.unsafe(pay.updatePayment('$2', '$1'), [reference, id], prepare)
    await tx.unsafe(pay.updateTicket('$2', '$1'), [reference, id], prepare)
  })
}
