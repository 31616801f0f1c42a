import { sql } from 'drizzle-orm'
import { arrayRows } from '../../../data/array-params.ts'
import { inOrganization, preparedSql } from '../../../data/prepared.ts'
import { nowMs } from '../../../database/clock.ts'
import { events } from '../../event/table.ts'
import { locations } from '../../location/table.ts'
import { dropHolds, dropSessions } from '../../payment/queue/follow-payments.ts'
import { payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import { tickets } from '../../ticket/table.ts'

type ActivatedTicket = { id: string; now: number }

const ofOrganization = sql.placeholder('organizationId')

export const markedRows = arrayRows('marked', {
  id: 'text',
  invoiceReference: 'text',
  endsSession: 'boolean',
})
const { id, invoiceReference, endsSession } = markedRows.cells
export const issuedRows = arrayRows('issued', { ticketId: 'text', documentToken: 'text' })
const { ticketId, documentToken } = issuedRows.cells

const timezone = sql`coalesce((select ${locations.timezone} from ${events} join ${locations} on ${locations.id} = ${events.locationId}
  where ${events.id} = ${tickets.eventId}), 'UTC')`

/** Marks payments as paid and activates their tickets, which then are no longer among holds. Returns the tickets with their time of payment. */
export const markPaid = preparedSql<ActivatedTicket>(
  'mark_paid',
  () => sql`
  with paid as (
    update ${payments} set status = 'paid', paid_at = ${nowMs}, invoice_reference = ${invoiceReference},
      session_open = session_open and not ${endsSession}
    from ${markedRows.rows}
    where ${inOrganization(payments.organizationId)} and ${payments.id} = ${id} and ${canBecome('paid')}
    returning ${payments.organizationId}, ${payments.id}, ${payments.ticketRateId}, ${payments.expiresAt},
      ${payments.provider}, ${payments.sessionId}, ${payments.invoiceReference}, ${endsSession} as ends_session
  ),
  dropped as (${dropHolds('paid', ofOrganization)}),
  closed as (${dropSessions('paid', ofOrganization, sql`paid.ends_session`)}),
  changed as (
    update ${tickets} set status = 'active', ended = null, activated_at = ${nowMs},
      sold_on = (${nowMs} at time zone ${timezone})::date, document_token = ${documentToken}, invoice_reference = paid.invoice_reference,
      updated_at = ${nowMs}
    from paid, ${issuedRows.rows}
    where ${inOrganization(tickets.organizationId)} and ${tickets.id} = ${ticketId}
      and ${tickets.paymentId} = paid.id and ${tickets.status} = ${sql.placeholder('from')}::text::ticket_status
    returning ${tickets.id}, ${tickets.activatedAt}
  )
  select id, (extract(epoch from activated_at) * 1000)::float8 as now from changed`,
)
