import { sql } from 'drizzle-orm'
import { insertRows } from '../../engine/data/array-params.ts'
import { query } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { newId } from '../contract/ids.ts'
import type { Payment } from '../payment/table.ts'
import { type Invoice, invoiceSeries, invoices } from './table.ts'

const prefix = { invoice: 'F', corrective: 'R', test_invoice: 'TEST-F', test_corrective: 'TEST-R' }

const year = sql`extract(year from now() at time zone 'UTC')::integer`

const takeNumbers = query<{ year: number; last: number }>(
  'take_invoice_numbers',
  () => sql`
  insert into ${invoiceSeries} (organization_id, kind, year, last)
  values (${sql.placeholder('organizationId')}::text, ${sql.placeholder('kind')}::text::invoice_kind, ${year},
    ${sql.placeholder('count')}::integer)
  on conflict (organization_id, kind, year) do update set last = ${invoiceSeries.last} + excluded.last
  returning year, last`,
)

const insert = insertRows('insert_invoices', invoices, { key: 'id' })

/** Issues invoices for payments, or corrective ones for refunds of them (amounts in minor units), with the next numbers
 *  of an organization's series for the mode and the current year, in order. Locks the series until the transaction ends,
 *  so that a rollback leaves no gap. Call it last in a transaction, after the stock counters, to keep locks in one order.
 *  Returns the references by the identifier of the refund, or else of the payment. */
export async function issueInvoices(
  tx: Connection,
  { organizationId, mode }: Pick<Payment, 'organizationId' | 'mode'>,
  type: 'invoice' | 'corrective',
  invoiced: (Pick<Invoice, 'paymentId' | 'amount' | 'currency'> & { refundId?: string })[],
): Promise<Map<string, string>> {
  if (invoiced.length === 0) return new Map()
  const kind = mode === 'test' ? (`test_${type}` as const) : type
  const count = invoiced.length
  const [series] = await takeNumbers(tx, { organizationId, kind, count })
  if (!series) throw new Error('no numbers of invoices were returned')
  const { year, last } = series
  const rows = invoiced.map((invoice, index) => {
    const number = last - count + index + 1
    const reference = `${prefix[kind]}${year}-${String(number).padStart(6, '0')}`
    return { id: newId('inv'), refundId: null, ...invoice, organizationId, kind, year, number, reference }
  })
  await insert(tx, rows)
  return new Map(rows.map(({ refundId, paymentId, reference }) => [refundId ?? paymentId, reference]))
}
