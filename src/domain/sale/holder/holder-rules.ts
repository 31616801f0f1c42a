import { eq, sql } from 'drizzle-orm'
import { nowMs } from '../../../database/clock.ts'
import type { Connection } from '../../../database/database.ts'
import { illegalTransition, Refusal } from '../../../shared/errors.ts'
import { events } from '../../event/table.ts'
import { locations } from '../../location/table.ts'
import { organizations } from '../../organization/table.ts'
import type { Ticket } from '../../ticket/table.ts'
import { lookupStatus } from '../../ticket/views.ts'
import { ticketRates } from '../../ticket-rate/table.ts'

/** Facts of the catalogue that changes of a ticket's holder depend on. */
export async function readHolderTerms(tx: Connection, { ticketRateId }: Ticket) {
  const [terms] = await tx
    .select({
      transferable: ticketRates.transferable,
      event: { startDate: events.startDate, age: events.age },
      timezone: locations.timezone,
      /** True once the event has ended, by the database's clock. */
      isOver: sql<boolean>`${events.endDate} <= ${nowMs}`,
      /** Language of the organization, for a holder who names none. */
      language: organizations.language,
    })
    .from(ticketRates)
    .innerJoin(events, eq(events.id, ticketRates.eventId))
    .innerJoin(organizations, eq(organizations.id, ticketRates.organizationId))
    .leftJoin(locations, eq(locations.id, events.locationId))
    .where(eq(ticketRates.id, ticketRateId))
  if (!terms) throw new Error(`ticket rate ${ticketRateId} not found`)
  return terms
}

/** Refusal of a change that the status of a ticket does not allow, such as `transferred`. */
export function statusRefusal(ticket: Pick<Ticket, 'status'>, to: string): Refusal {
  const from = lookupStatus(ticket)
  const message = `The ticket is ${from}, and can't be ${to}.`
  return new Refusal({ ...illegalTransition('ticket', from, to), message })
}
