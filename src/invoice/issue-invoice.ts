import { sql } from 'drizzle-orm'
import type { Connection } from '../database.ts'
import { newId } from '../ids.ts'
import { type Invoice, invoiceSeries, invoices } from './table.ts'

/** What an invoice is for. Amounts in minor units. */
export type Invoiced = Pick<
  Invoice,
  'organizationId' | 'kind' | 'paymentId' | 'refundId' | 'amount' | 'currency'
>

const prefix = { invoice: 'F', corrective: 'R' }

/** Issues one invoice with the next number of its organization's series of the year, in UTC. The number is taken in the
 *  transaction of what it is for, and the series stays locked until that ends: so there are no gaps, and what is rolled
 *  back gives its number back. To be called last in a transaction, after the counters of stock. Gives its reference. */
export async function issueInvoice(tx: Connection, invoiced: Invoiced): Promise<string> {
  const { organizationId, kind } = invoiced
  const [next] = await tx
    .insert(invoiceSeries)
    .values({
      organizationId,
      kind,
      year: sql`extract(year from now() at time zone 'UTC')::integer`,
      last: 1,
    })
    .onConflictDoUpdate({
      target: [invoiceSeries.organizationId, invoiceSeries.kind, invoiceSeries.year],
      set: { last: sql`${invoiceSeries.last} + 1` },
    })
    .returning({ year: invoiceSeries.year, number: invoiceSeries.last })
  if (!next) throw new Error('a series gives a number')
  const { year, number } = next
  const reference = `${prefix[kind]}${year}-${String(number).padStart(6, '0')}`
  await tx.insert(invoices).values({ id: newId('inv'), ...invoiced, year, number, reference })
  return reference
}
