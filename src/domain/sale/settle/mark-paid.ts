import { sql } from 'drizzle-orm'
import { arrayRows } from '../../../data/array-params.ts'
import { preparedSql } from '../../../data/prepared.ts'
import { nowMs } from '../../../database/clock.ts'
import type { Connection } from '../../../database/database.ts'
import { payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import { type Ticket, tickets } from '../../ticket/table.ts'

/** Payment to mark as paid. `endsSession` if that ends its provider session. */
export type PaymentToMark = { id: string; invoiceReference: string | null; endsSession: boolean }

type ActivatedTicket = { id: string; documentToken: string; now: number }

const markedRows = arrayRows('marked', { id: 'text', invoiceReference: 'text', endsSession: 'boolean' })
const { id, invoiceReference, endsSession } = markedRows.cells

// 244 random bits from the database's cryptographic source, for each row.
const newToken = sql`replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`

const mark = preparedSql<ActivatedTicket>(
  'mark_paid',
  () => sql`
  with paid as (
    update ${payments} set status = 'paid', paid_at = ${nowMs}, invoice_reference = ${invoiceReference},
      session_open = session_open and not ${endsSession}
    from ${markedRows.rows} where ${payments.id} = ${id} and ${canBecome('paid')}
    returning ${payments.id}, ${payments.invoiceReference}
  )
  update ${tickets} set status = 'active', activated_at = ${nowMs}, document_token = ${newToken},
    invoice_reference = paid.invoice_reference
  from paid where ${tickets.paymentId} = paid.id and ${tickets.status} = ${sql.placeholder('from')}::text::ticket_status
  returning ${tickets.id}, ${tickets.documentToken} as "documentToken",
    (extract(epoch from ${nowMs}) * 1000)::float8 as now`,
)

/** Marks payments as paid and activates their tickets, in one statement. Returns the tokens of the tickets'
 *  documents by ticket id, and the time of payment. */
export async function markPaid(
  tx: Connection,
  marked: PaymentToMark[],
  from: Extract<Ticket['status'], 'held' | 'expired'>,
): Promise<{ tokens: Map<string, string>; at: Date }> {
  const activated = await mark(tx, { ...markedRows.values(marked), from })
  const [first] = activated
  if (!first) throw new Error('no payment was marked as paid')
  return {
    tokens: new Map(activated.map(({ id, documentToken }) => [id, documentToken])),
    at: new Date(first.now),
  }
}
