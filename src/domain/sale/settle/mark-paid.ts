import { sql } from 'drizzle-orm'
import { arrayRows } from '../../../data/array-params.ts'
import { nowMs } from '../../../data/leased-jobs.ts'
import { preparedSql } from '../../../data/prepared.ts'
import type { Connection } from '../../../database/database.ts'
import { payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import { type Ticket, tickets } from '../../ticket/table.ts'

/** A payment that becomes paid. `endsSession` where its session is over with it. */
export type Marked = { id: string; invoiceReference: string | null; endsSession: boolean }

type Activated = { id: string; documentToken: string; now: number }

const paid = arrayRows('marked', { id: 'text', invoiceReference: 'text', endsSession: 'boolean' })
const { id, invoiceReference, endsSession } = paid.cells

// 244 random bits of the database's cryptographic source, new ones for each row.
const newToken = sql`replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`

const mark = preparedSql<Activated>(
  'mark_paid',
  () => sql`
  with paid as (
    update ${payments} set status = 'paid', paid_at = ${nowMs}, invoice_reference = ${invoiceReference},
      session_open = session_open and not ${endsSession}
    from ${paid.rows} where ${payments.id} = ${id} and ${canBecome('paid')}
    returning ${payments.id}, ${payments.invoiceReference}
  )
  update ${tickets} set status = 'active', activated_at = ${nowMs}, document_token = ${newToken},
    invoice_reference = paid.invoice_reference
  from paid where ${tickets.paymentId} = paid.id and ${tickets.status} = ${sql.placeholder('from')}::text::ticket_status
  returning ${tickets.id}, ${tickets.documentToken} as "documentToken",
    (extract(epoch from ${nowMs}) * 1000)::float8 as now`,
)

/** Makes payments paid and their tickets active, both in one statement. Gives the token of each ticket's document by the
 *  ticket's id, and the moment. */
export async function markPaid(
  tx: Connection,
  marked: Marked[],
  from: Extract<Ticket['status'], 'held' | 'expired'>,
): Promise<{ tokens: Map<string, string>; at: Date }> {
  const activated = await mark(tx, { ...paid.values(marked), from })
  const [first] = activated
  if (!first) throw new Error('no payment was marked as paid')
  return {
    tokens: new Map(activated.map(({ id, documentToken }) => [id, documentToken])),
    at: new Date(first.now),
  }
}
