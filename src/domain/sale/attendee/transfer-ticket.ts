import type { Connection } from '../../../engine/database/database.ts'
import { aloneOnRow, transaction } from '../../../engine/database/transaction.ts'
import { type Context, requireConfidential } from '../../caller/context.ts'
import { retryOnDuplicate } from '../../caller/idempotency.ts'
import { recordChanges } from '../../change/record-changes.ts'
import { newDocumentToken, newQrCode } from '../../contract/ids.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { queueTransfer, requireResends } from '../../delivery/queue-deliveries.ts'
import { searchNameOf } from '../../event/search-words.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { clearedAttendee } from '../../ticket/anonymized.ts'
import { ticketChange } from '../../ticket/body.ts'
import { isTicket, lockTicket, requireTicket, requireUnused } from '../../ticket/require-ticket.ts'
import { retiredDocuments, type Ticket, ticketColumns, tickets } from '../../ticket/table.ts'
import type { TicketTransfer } from './attendee-input.ts'
import { readAttendeeTerms, statusRefusal } from './attendee-rules.ts'

const isAttendee = ({ fullName, email }: TicketTransfer, ticket: Ticket) =>
  ticket.fullName === fullName && ticket.email === email

async function giveTo(tx: Connection, former: Ticket, to: TicketTransfer, language: string): Promise<Ticket> {
  const { id, organizationId, documentToken } = former
  const { ticketId: _, ...columns } = to
  const [given] = await tx
    .update(tickets)
    .set({
      ...clearedAttendee,
      ...columns,
      searchName: searchNameOf(to.fullName),
      phone: to.phone ?? null,
      language: to.language ?? language,
      qrCode: newQrCode(),
      documentToken: newDocumentToken(id, organizationId),
    })
    .where(isTicket(former))
    .returning(ticketColumns)
  if (!given) throw new Error(`ticket ${id} was not transferred under its lock`)
  await tx.insert(retiredDocuments).values({ organizationId, token: documentToken, ticketId: id })
  await recordChanges(tx, [ticketChange('ticket.transferred', given)])
  await queueTransfer(tx, given, former.email)
  return given
}

/** Gives a paid ticket, with which nobody has ever entered, to another person. It gets a new code and a new
 *  document; the former ones are dead at once, and so is all that the former attendee told, answers included.
 *  Takes no stock and moves no money: refunds and the invoice stay with the payment. Queues the ticket for
 *  the new attendee and a notice for the former one. A ticket that already bears this name and address is
 *  returned unchanged, so that a retry makes no further code.
 *  Refuses: NOT_FOUND, ILLEGAL_TRANSITION unless it is active, ALREADY_ENTERED, TRANSFER_NOT_ALLOWED by
 *  its rate, EVENT_ENDED by the database's clock, TOO_MANY_RESENDS (DECISIONS, holders). */
export async function transferTicket(to: TicketTransfer, ctx: Context): Promise<Ticket> {
  requireConfidential(ctx)
  const found = await requireTicket(to.ticketId, ctx)
  const { organizationId, paymentId } = found
  const transfer = () =>
    transaction(ctx.db, async (tx) => {
      // Deliveries refer to the payment, which is locked before the ticket.
      await lockPayment(tx, { organizationId, id: paymentId })
      const locked = await lockTicket(tx, found)
      if (locked.status !== 'active') throw statusRefusal(locked, 'transferred')
      if (isAttendee(to, locked)) return locked
      requireUnused(locked)
      const { transferable, isOver, language } = (await readAttendeeTerms(tx, [locked]))(locked)
      if (!transferable)
        throw refusal('TRANSFER_NOT_ALLOWED', 'Tickets of this rate may not be given to another person.')
      if (isOver) throw refusal('EVENT_ENDED', 'The event has ended.')
      await requireResends(tx, [locked])
      return giveTo(tx, locked, to, language)
    })
  // Runs again with another code if the event has one that is the same.
  return aloneOnRow(ctx.db, paymentId, () => retryOnDuplicate(transfer)).finally(() => ctx.loaders.clear())
}
