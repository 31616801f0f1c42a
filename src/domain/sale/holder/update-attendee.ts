import { transaction } from '../../../database/transaction.ts'
import { type Context, requireConfidential } from '../../../request/context.ts'
import { refuseIf } from '../../../shared/errors.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { isAnonymized } from '../../ticket/anonymized.ts'
import { isTicket, lockTicket, requireTicket, requireUnused } from '../../ticket/require-ticket.ts'
import { searchNameOf } from '../../ticket/search-name.ts'
import { changeTickets } from '../../ticket/sold/change-tickets.ts'
import type { Ticket } from '../../ticket/table.ts'
import { ticketChange } from '../../ticket/ticket-change.ts'
import { checkAge } from '../checkout/check-entries.ts'
import { recordChanges } from '../record-changes.ts'
import type { AttendeeChanges } from './holder-input.ts'
import { readHolderTerms, statusRefusal } from './holder-rules.ts'

/** Lists the columns that differ from the ticket. A cleared language becomes the organization's, as in a
 *  checkout that names none. */
function differences(ticket: Ticket, given: Partial<Ticket>, language: string): Partial<Ticket> {
  const wanted = given.language === null ? { ...given, language } : given
  const names = Object.keys(wanted) as (keyof typeof wanted)[]
  const changed = names.filter((name) => wanted[name] !== undefined && wanted[name] !== ticket[name])
  return Object.fromEntries(changed.map((name) => [name, wanted[name]]))
}

/** Corrects what was typed about the attendee of a ticket that is held or active. Absent fields stay, null
 *  clears an optional one. Sends nothing: a mail that is queued for a former address is not sent, and tickets
 *  that are paid later go to the new one. Changes nothing, and records nothing, if nothing differs.
 *  Refuses: NOT_FOUND; ILLEGAL_TRANSITION, also for an attendee who was anonymized; ALREADY_ENTERED; UNDER_AGE
 *  (DECISIONS 9). */
export async function updateAttendee({ ticketId, ...given }: AttendeeChanges, ctx: Context): Promise<Ticket> {
  requireConfidential(ctx)
  const found = await requireTicket(ticketId, ctx)
  const { organizationId, paymentId } = found
  const ticket = await transaction(ctx.db, async (tx) => {
    // A settlement reads the addresses that it queues mails for under this lock.
    await lockPayment(tx, { organizationId, id: paymentId })
    const locked = await lockTicket(tx, found)
    const isLive = locked.status === 'held' || locked.status === 'active'
    if (!isLive || isAnonymized(locked)) throw statusRefusal(locked, 'updated')
    requireUnused(locked)
    const terms = await readHolderTerms(tx, locked)
    refuseIf(checkAge(given, terms))
    const changed = differences(locked, given, terms.language)
    if (Object.keys(changed).length === 0) return locked
    const searchName = searchNameOf(changed.fullName ?? locked.fullName)
    const [updated] = await changeTickets(tx, { ...changed, searchName }, isTicket(found))
    if (!updated) throw new Error(`ticket ${found.id} was not updated under its lock`)
    await recordChanges(tx, [ticketChange('ticket.updated', updated)])
    return updated
  })
  ctx.loaders.clear()
  return ticket
}
