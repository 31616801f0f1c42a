import { and, eq, sql } from 'drizzle-orm'
import { type Problem, Refusal, refuseIf } from '../../../engine/base/errors.ts'
import { arrayRows, quoteName } from '../../../engine/data/array-params.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { aloneOnRow, transaction } from '../../../engine/database/transaction.ts'
import { type Context, requireConfidential } from '../../caller/context.ts'
import { recordChanges } from '../../change/record-changes.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { searchNameOf } from '../../event/search-words.ts'
import { lockPayments } from '../../payment/lock-payment.ts'
import { isAnonymized } from '../../ticket/anonymized.ts'
import { ticketChange } from '../../ticket/body.ts'
import { lockTickets, requireTicket, requireUnused } from '../../ticket/require-ticket.ts'
import { type LookupTicket, type Ticket, ticketColumns, tickets } from '../../ticket/table.ts'
import { checkAge } from '../checkout/check-entries.ts'
import type { AttendeeChanges } from './attendee-input.ts'
import { readAttendeeTerms, statusRefusal } from './attendee-rules.ts'

const columns = [
  ...(['fullName', 'searchName', 'email', 'phone', 'language', 'birthday', 'address', 'postalCode'] as const),
  ...(['countryCode', 'personalDocumentType', 'personalDocumentNumber'] as const),
]

/** Applies what was given to a ticket; null if nothing differs. A cleared language becomes the organization's,
 *  as in a checkout that names none. */
function correct(ticket: Ticket, { ticketId: _, ...given }: AttendeeChanges, language: string) {
  const wanted = given.language === null ? { ...given, language } : given
  const changed = Object.entries(wanted).filter(
    ([key, value]) => value !== undefined && value !== ticket[key as keyof Ticket],
  )
  if (changed.length === 0) return null
  const corrected: Ticket = { ...ticket, ...Object.fromEntries(changed) }
  return { ...corrected, searchName: searchNameOf(corrected.fullName) }
}

const { id } = tickets
const written = arrayRows('written', { id, ...Object.fromEntries(columns.map((key) => [key, tickets[key]])) })

const writeCorrections = (tx: Connection, organizationId: string, corrected: Ticket[]): Promise<Ticket[]> =>
  tx
    .update(tickets)
    .set(Object.fromEntries(columns.map((key) => [key, sql`written.${quoteName(key)}`])))
    .from(written.holding(corrected))
    .where(and(eq(tickets.organizationId, organizationId), sql`${id} = written.id`))
    .returning(ticketColumns)

// Returns the place in the input of a problem of a correction.
const placeOf = (index: number, path: Problem['path'] = ['ticketId']): Problem['path'] => [
  ...['attendees', index],
  ...path.map((key) => (key === 'birthday' ? 'birthDate' : key)),
]

// Reports the refusals of all corrections at once.
async function forEach<Result>(
  corrections: AttendeeChanges[],
  check: (given: AttendeeChanges) => Result | Promise<Result>,
): Promise<Result[]> {
  const problems: Problem[] = []
  const checked = corrections.map(async (given, index) => {
    try {
      return [await check(given)]
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      problems.push(...error.problems.map((one): Problem => ({ ...one, path: placeOf(index, one.path) })))
      return []
    }
  })
  const results = await Promise.all(checked)
  refuseIf(problems)
  return results.flat()
}

/** Corrects what was typed about the attendees of tickets of one organization that are held or active: all or
 *  none, in as many statements as one takes. Absent fields stay, null clears an optional one. Sends nothing: a
 *  mail that is queued for a former address is not sent, and tickets that are paid later go to the new one.
 *  Records nothing of a correction that changes nothing. Returns the tickets in the order of the corrections.
 *  Refuses: NOT_FOUND; INVALID for a ticket that is named twice or is another organization's;
 *  ILLEGAL_TRANSITION, also for an attendee who was anonymized; ALREADY_ENTERED; UNDER_AGE (DECISIONS, holders). */
export async function updateAttendees(corrections: AttendeeChanges[], ctx: Context): Promise<Ticket[]> {
  requireConfidential(ctx)
  const named: LookupTicket[] = []
  await forEach(corrections, async ({ ticketId }) => {
    const ticket = await requireTicket(ticketId, ctx)
    const isOther = ({ id, organizationId }: LookupTicket) =>
      id === ticket.id || organizationId !== ticket.organizationId
    const message = 'Tickets must be different ones of one organization.'
    if (named.some(isOther)) throw refusal('INVALID', message, ['ticketId'])
    named.push(ticket)
  })
  const ids = named.map(({ id }) => id)
  const organizationId = named[0]?.organizationId ?? ''
  const paymentIds = [...new Set(named.map(({ paymentId }) => paymentId))].sort()
  const write = async (tx: Connection) => {
    // A settlement reads the addresses that it queues mails for under these locks.
    await lockPayments(tx, organizationId, paymentIds, 'wait')
    const locked = await lockTickets(tx, { organizationId, keys: ids })
    const current = new Map<string, Ticket>(locked.map((ticket) => [ticket.id, ticket]))
    const termsOf = await readAttendeeTerms(tx, locked)
    const corrected = await forEach(corrections, (given) => {
      const ticket = current.get(given.ticketId)
      if (!ticket) throw new Error(`ticket ${given.ticketId} not found`)
      const isLive = ticket.status === 'held' || ticket.status === 'active'
      if (!isLive || isAnonymized(ticket)) throw statusRefusal(ticket, 'updated')
      requireUnused(ticket)
      refuseIf(checkAge(given, { rate: termsOf(ticket) }))
      return correct(ticket, given, termsOf(ticket).language)
    })
    const changed = corrected.flatMap((ticket) => ticket ?? [])
    const written = changed.length > 0 ? await writeCorrections(tx, organizationId, changed) : []
    if (written.length < changed.length) throw new Error('a ticket was not updated under its lock')
    const changes = written.map((ticket) => ticketChange('ticket.updated', ticket))
    await recordChanges(tx, changes)
    for (const ticket of written) current.set(ticket.id, ticket)
    return ids.flatMap((id) => current.get(id) ?? [])
  }
  const [first = ''] = paymentIds
  return aloneOnRow(ctx.db, first, () => transaction(ctx.db, write)).finally(() => ctx.loaders.clear())
}
