import { type SQL, sql } from 'drizzle-orm'
import { arrayRows } from '../../data/array-params.ts'
import { query } from '../../data/query.ts'
import type { Connection } from '../../database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Mode } from '../../shared/mode.ts'
import { type Invoice, invoiceSeries, invoices } from './table.ts'

const prefix = { invoice: 'F', corrective: 'R', test_invoice: 'TEST-F', test_corrective: 'TEST-R' }

/** Kind of an invoice in a mode: test ones have series of their own. */
export const invoiceKindIn = (mode: Mode, kind: 'invoice' | 'corrective'): Invoice['kind'] =>
  mode === 'test' ? `test_${kind}` : kind

const newInvoices = arrayRows('news', {
  id: 'text',
  paymentId: 'text',
  refundId: 'text',
  amount: 'bigint',
  currency: 'text',
})
const { cells } = newInvoices
const parameter = sql.placeholder
const year = sql`extract(year from now() at time zone 'UTC')::integer`
const digits = (number: SQL) => sql`lpad(${number}::text, greatest(6, length(${number}::text)), '0')`

const issue = query<{ id: string; reference: string }>(
  'issue_invoices',
  () => sql`
  with series as (
    insert into ${invoiceSeries} (organization_id, kind, year, last)
    values (${parameter('organizationId')}::text, ${parameter('kind')}::text::invoice_kind, ${year}, ${parameter('count')}::integer)
    on conflict (organization_id, kind, year) do update set last = ${invoiceSeries.last} + excluded.last
    returning organization_id, kind, year, last - ${parameter('count')}::integer as before
  )
  insert into ${invoices} (id, organization_id, kind, year, number, reference, payment_id, refund_id, amount, currency)
  select ${cells.id}, organization_id, kind, year, before + place,
    ${parameter('prefix')}::text || year || '-' || ${digits(sql`(before + place)`)},
    ${cells.paymentId}, ${cells.refundId}, ${cells.amount}, ${cells.currency}
  from series cross join ${newInvoices.ordered('place')}
  returning id, reference`,
)

/** Issues invoices for payments or refunds with the next numbers of an organization's series of one kind and
 *  the current year, in order, in one statement. Amounts in minor units. Locks the series until the
 *  transaction ends, so that a rollback leaves no gap. Call it last in a transaction, after the stock
 *  counters, to keep locks in one order. Returns the references. */
export async function issueInvoices(
  tx: Connection,
  { organizationId, kind }: Pick<Invoice, 'organizationId' | 'kind'>,
  invoiced: Pick<Invoice, 'paymentId' | 'refundId' | 'amount' | 'currency'>[],
): Promise<string[]> {
  if (invoiced.length === 0) return []
  const rows = invoiced.map((invoice) => ({ id: newId('inv'), ...invoice }))
  const issued = await issue(tx, {
    organizationId,
    kind,
    prefix: prefix[kind],
    count: rows.length,
    ...newInvoices.values(rows),
  })
  const references = new Map(issued.map(({ id, reference }) => [id, reference]))
  return rows.map(({ id }) => {
    const reference = references.get(id)
    if (!reference) throw new Error(`invoice ${id} was not written`)
    return reference
  })
}
