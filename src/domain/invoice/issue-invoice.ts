import { type SQL, sql } from 'drizzle-orm'
import { insertRows } from '../../engine/data/array-params.ts'
import { anyOf, inOrganization, query } from '../../engine/data/query.ts'
import { nowMs } from '../../engine/database/clock.ts'
import type { Connection } from '../../engine/database/database.ts'
import { newId } from '../contract/ids.ts'
import type { Payment } from '../payment/table.ts'
import { tickets, timezoneOfTicket } from '../ticket/table.ts'
import { type Invoice, invoiceSeries, invoices } from './table.ts'

const prefix = { invoice: 'F', corrective: 'R', test_invoice: 'TEST-F', test_corrective: 'TEST-R' }

const yearIn = (zone: SQL) => sql`extract(year from ${nowMs} at time zone ${zone})::integer`
const [west, east] = [yearIn(sql`'Etc/GMT+12'`), yearIn(sql`'Etc/GMT-14'`)]
const asked = sql`${sql.placeholder('year')}::integer`
// True around New Year, when it depends on the place which year it is.
const isUnclear = sql`${asked} is null and ${west} <> ${east}`

// Takes none if no year is asked for and it depends on the place, but locks the former year's series, so that all
// transactions lock them in the order of the years.
const takeNumbers = query<{ year: number; last: number; isUnclear: boolean }>(
  'take_invoice_numbers',
  () => sql`
  insert into ${invoiceSeries} (organization_id, kind, year, last)
  values (${sql.placeholder('organizationId')}::text, ${sql.placeholder('kind')}::text::invoice_kind,
    coalesce(${asked}, ${west}), case when ${isUnclear} then 0 else ${sql.placeholder('count')}::integer end)
  on conflict (organization_id, kind, year) do update set last = ${invoiceSeries.last} + excluded.last
  returning year, last, ${isUnclear} as "isUnclear"`,
)

const yearsAtVenues = query<{ paymentId: string; year: number }>(
  'years_at_venues',
  () => sql`
  select ${tickets.paymentId} as "paymentId", ${yearIn(timezoneOfTicket)} as year from ${tickets}
  where ${inOrganization(tickets.organizationId)} and ${anyOf(tickets.paymentId, 'keys')} and ${tickets.position} = 0`,
)

const insert = insertRows('insert_invoices', invoices, { key: 'id' })

/** Issues invoices for payments, or corrective ones for refunds of them (amounts in minor units), with the next numbers
 *  of an organization's series for the mode and the year of this day at the venue, in order (DECISIONS 44). Locks the series until the transaction ends,
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
  const take = async (own: typeof invoiced, asked: number | null = null) => {
    const [series] = await takeNumbers(tx, { organizationId, kind, year: asked, count: own.length })
    if (!series) throw new Error('no numbers of invoices were returned')
    const { year, last, isUnclear } = series
    if (isUnclear) return null
    return own.map((invoice, index) => {
      const number = last - own.length + index + 1
      const reference = `${prefix[kind]}${year}-${String(number).padStart(6, '0')}`
      return { id: newId('inv'), refundId: null, ...invoice, organizationId, kind, year, number, reference }
    })
  }
  const takeByYear = async () => {
    const keys = invoiced.map(({ paymentId }) => paymentId)
    const found = await yearsAtVenues(tx, { organizationId, keys })
    const yearOf = new Map(found.map(({ paymentId, year }) => [paymentId, year]))
    const rows = []
    for (const year of [...new Set(yearOf.values())].sort())
      rows.push(
        ...((await take(
          invoiced.filter((one) => yearOf.get(one.paymentId) === year),
          year,
        )) ?? []),
      )
    return rows
  }
  const rows = (await take(invoiced)) ?? (await takeByYear())
  if (rows.length < invoiced.length) throw new Error('an invoice has no year')
  await insert(tx, rows)
  return new Map(rows.map(({ refundId, paymentId, reference }) => [refundId ?? paymentId, reference]))
}
