import { sql } from 'drizzle-orm'
import { insertRows } from '../../data/array-params.ts'
import { query } from '../../data/query.ts'
import type { Connection } from '../../database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Mode } from '../../shared/mode.ts'
import { type Invoice, invoiceSeries, invoices } from './table.ts'

const prefix = { invoice: 'F', corrective: 'R', test_invoice: 'TEST-F', test_corrective: 'TEST-R' }

/** Kind of an invoice in a mode: test ones have series of their own. */
export const invoiceKindIn = (mode: Mode, kind: 'invoice' | 'corrective'): Invoice['kind'] =>
  mode === 'test' ? `test_${kind}` : kind

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

const insert = insertRows('insert_invoices', invoices, 'fail')

/** Issues invoices for payments or refunds with the next numbers of an organization's series of one kind and
 *  the current year, in order. Amounts in minor units. Locks the series until the
 *  transaction ends, so that a rollback leaves no gap. Call it last in a transaction, after the stock
 *  counters, to keep locks in one order. Returns the references. */
export async function issueInvoices(
  tx: Connection,
  { organizationId, kind }: Pick<Invoice, 'organizationId' | 'kind'>,
  invoiced: Pick<Invoice, 'paymentId' | 'refundId' | 'amount' | 'currency'>[],
): Promise<string[]> {
  if (invoiced.length === 0) return []
  const count = invoiced.length
  const [series] = await takeNumbers(tx, { organizationId, kind, count })
  if (!series) throw new Error('no numbers of invoices were returned')
  const { year, last } = series
  const rows = invoiced.map((invoice, index) => {
    const number = last - count + index + 1
    const reference = `${prefix[kind]}${year}-${String(number).padStart(6, '0')}`
    return { id: newId('inv'), ...invoice, organizationId, kind, year, number, reference }
  })
  await insert(tx, rows)
  return rows.map(({ reference }) => reference)
}
