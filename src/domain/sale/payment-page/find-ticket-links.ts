import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { fewRowsOf } from '../../../engine/data/json-rows.ts'
import { inOrganization, query } from '../../../engine/data/query.ts'
import type { Database } from '../../../engine/database/database.ts'
import { documentsOfPayment } from '../../delivery/find-documents.ts'
import { hasRecipient } from '../../delivery/queue-deliveries.ts'
import { deliveries } from '../../delivery/table.ts'
import type { Payment } from '../../payment/table.ts'
import { documentUrl } from '../../ticket/views.ts'

/** Tickets of a paid payment as its outcome page links them, and where they were sent or are being sent to,
 *  masked. */
export type TicketLinks = Awaited<ReturnType<typeof findTicketLinks>>

// Only what the checkout had sent: a later delivery may be to somebody else.
const recipientsByPayment = query('recipients_by_payment', {
  rows: fewRowsOf({ recipient: deliveries.recipient, status: deliveries.status }),
  query(select) {
    const isOfPayment = eq(deliveries.paymentId, sql.placeholder('paymentId'))
    const isOfCheckout = and(isOfPayment, inArray(deliveries.occasion, ['', 'free', 'public']))
    const areTheirs = and(inOrganization(deliveries.organizationId), isOfCheckout, hasRecipient)
    return select.from(deliveries).where(areTheirs).orderBy(asc(deliveries.recipient))
  },
})

// Masks an e-mail address or a phone number, so that only who knows it recognizes it: a•••@example.com,
// +34•••01.
function maskRecipient(recipient: string): string {
  const at = recipient.lastIndexOf('@')
  return at > 0
    ? `${recipient.slice(0, 1)}•••${recipient.slice(at)}`
    : `${recipient.slice(0, 3)}•••${recipient.slice(-2)}`
}

/** Reads the tickets of a paid payment with the URLs of their documents, and where they were sent. A
 *  cancelled ticket, and one that was given to another person, has no URL. */
export async function findTicketLinks(
  db: Database,
  payment: Pick<Payment, 'id' | 'organizationId' | 'sendTickets'>,
  publicUrl: string,
) {
  const values = { organizationId: payment.organizationId, paymentId: payment.id }
  const [rows, recipients] = await Promise.all([
    documentsOfPayment(db, values),
    payment.sendTickets ? recipientsByPayment(db, values) : [],
  ])
  const maskedOf = (status: (typeof recipients)[number]['status']) => [
    ...new Set(recipients.flatMap((row) => (row.status === status ? [maskRecipient(row.recipient)] : []))),
  ]
  return {
    tickets: rows.map((ticket) => ({
      number: ticket.position + 1,
      name: ticket.priceName,
      url: ticket.isTransferred ? null : documentUrl(ticket, publicUrl),
      isGiven: ticket.status === 'active' && ticket.isTransferred,
    })),
    sent: maskedOf('sent'),
    sending: maskedOf('pending'),
  }
}
