import { and, asc, eq, inArray, not, sql } from 'drizzle-orm'
import { Refusal } from '../../../engine/base/errors.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { illegalTransition } from '../../contract/problem-codes.ts'
import { ageText, events } from '../../event/table.ts'
import { locations } from '../../location/table.ts'
import { organizations } from '../../organization/table.ts'
import type { Ticket } from '../../ticket/table.ts'
import { lookupStatus } from '../../ticket/views.ts'
import { questions, ticketRates } from '../../ticket-rate/table.ts'

/** Reads the facts of the catalogue that changes of an attendee depend on. Returns those of a ticket among these. */
export async function readAttendeeTerms(tx: Connection, held: Ticket[]) {
  const rateIds = [...new Set(held.map(({ ticketRateId }) => ticketRateId))]
  const rows = await tx
    .select({
      id: ticketRates.id,
      transferable: ticketRates.transferable,
      startDate: events.startDate,
      age: ageText,
      timezone: locations.timezone,
      /** True once the event has ended, by the database's clock. */
      isOver: sql<boolean>`${events.endDate} <= ${nowMs}`,
      /** Language of the organization, for an attendee who names none. */
      language: organizations.language,
    })
    .from(ticketRates)
    .innerJoin(events, eq(events.id, ticketRates.eventId))
    .innerJoin(organizations, eq(organizations.id, ticketRates.organizationId))
    .leftJoin(locations, eq(locations.id, events.locationId))
    .where(inArray(ticketRates.id, rateIds))
  const asked = await tx
    .select()
    .from(questions)
    .where(and(inArray(questions.ticketRateId, rateIds), not(questions.removed)))
    .orderBy(asc(questions.position), asc(questions.id))
  return ({ ticketRateId, saleType }: Ticket) => {
    const terms = rows.find(({ id }) => id === ticketRateId)
    if (!terms) throw new Error(`ticket rate ${ticketRateId} not found`)
    const own = asked.filter((question) => question.ticketRateId === ticketRateId)
    // A guest has to answer nothing.
    const isGuest = saleType === 'invitation'
    return { ...terms, questions: isGuest ? own.map((each) => ({ ...each, required: false })) : own }
  }
}

export type AttendeeTerms = ReturnType<Awaited<ReturnType<typeof readAttendeeTerms>>>

/** Refusal of a change that the status of a ticket does not allow, such as `transferred`. */
export function statusRefusal(ticket: Pick<Ticket, 'id' | 'status'>, to: string): Refusal {
  const from = lookupStatus(ticket)
  const message = `The ticket is ${from}, and can't be ${to}.`
  return new Refusal({ ...illegalTransition('ticket', { id: ticket.id, status: from }, to), message })
}
