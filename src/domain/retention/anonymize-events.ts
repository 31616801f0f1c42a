import { and, asc, eq, inArray, ne, type SQL, sql } from 'drizzle-orm'
import { hasKey } from '../../engine/data/query.ts'
import { nowMs } from '../../engine/database/clock.ts'
import type { Database } from '../../engine/database/database.ts'
import { inIndexOrder, transaction } from '../../engine/database/transaction.ts'
import { modes } from '../caller/mode.ts'
import { events } from '../event/table.ts'
import { lockPayments } from '../payment/lock-payment.ts'
import { anonymized } from '../ticket/anonymized.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { type Anonymized, anonymizeTickets } from './anonymize-tickets.ts'
import { anonymizedEvents } from './table.ts'

const batchSize = 200
const maxEvents = 1_000

type PastEvent = { id: string; endDate: Date }

/** Lists events of an organization that ended more than `months` ago and are not anonymized yet. */
export const listPastEvents = (db: Database, organizationId: string, months: number): Promise<PastEvent[]> =>
  db
    .select({ id: events.id, endDate: events.endDate })
    .from(events)
    .where(
      and(
        eq(events.organizationId, organizationId),
        sql`${events.endDate} <= ${nowMs} - ${months} * interval '1 month'`,
        sql`not exists (select from ${anonymizedEvents}
          where ${anonymizedEvents.organizationId} = ${organizationId} and ${anonymizedEvents.eventId} = ${events.id}
            and ${anonymizedEvents.endDate} >= ${events.endDate})`,
      ),
    )
    .orderBy(asc(events.endDate), asc(events.id))
    .limit(maxEvents)

type Position = Pick<Ticket, 'channelId' | 'createdAt' | 'id'>

const isAfter = (position: Position): SQL => sql`(${tickets.channelId}, ${tickets.createdAt}, ${tickets.id})
  > (${position.channelId}, ${position.createdAt.toISOString()}::timestamptz, ${position.id})`

// Whole payments, in either order of their tickets. Skips those that are locked.
const anonymizePayments = (db: Database, organizationId: string, paymentIds: string[]): Promise<Anonymized> =>
  transaction(db, async (tx) => {
    const locked = [...(await lockPayments(tx, organizationId, paymentIds, 'skip')).keys()]
    const found = await tx
      .select({ id: tickets.id })
      .from(tickets)
      .where(hasKey(tx, tickets.paymentId, organizationId, locked))
    const ticketIds = found.map(({ id }) => id)
    return anonymizeTickets(tx, organizationId, ticketIds)
  })

/** Anonymizes the attendees of an event of an organization, and yields after each batch. Then the event is
 *  marked, unless a ticket was locked: it is looked at again in the next turn. */
export async function* anonymizeEvent(db: Database, organizationId: string, event: PastEvent) {
  const { id: eventId, endDate } = event
  const rates = db.select({ id: ticketRates.id }).from(ticketRates).where(eq(ticketRates.eventId, eventId))
  const isKnown = and(eq(tickets.organizationId, organizationId), ne(tickets.email, anonymized))
  const { id, paymentId, channelId, createdAt } = tickets
  for (const rate of await rates)
    for (const mode of modes) {
      // By the order of the index "tickets_rate_created", so that each ticket is read once.
      const ofRate = and(isKnown, eq(tickets.mode, mode), eq(tickets.ticketRateId, rate.id))
      let last: Position | undefined
      do {
        const isNext = and(ofRate, last && isAfter(last))
        const found: (Position & Pick<Ticket, 'paymentId'>)[] = await inIndexOrder(db, (tx) =>
          tx
            .select({ id, paymentId, channelId, createdAt })
            .from(tickets)
            .where(isNext)
            .orderBy(asc(channelId), asc(createdAt), asc(id))
            .limit(batchSize),
        )
        last = found.length === batchSize ? found.at(-1) : undefined
        const ids = [...new Set(found.map((ticket) => ticket.paymentId))]
        if (ids.length > 0) yield anonymizePayments(db, organizationId, ids)
      } while (last)
    }
  const left = db
    .select({ id })
    .from(tickets)
    .where(and(isKnown, inArray(tickets.mode, [...modes]), inArray(tickets.ticketRateId, rates)))
    .limit(1)
  if ((await left).length > 0) return
  await db
    .insert(anonymizedEvents)
    .values({ organizationId, eventId, endDate })
    .onConflictDoUpdate({
      target: [anonymizedEvents.organizationId, anonymizedEvents.eventId],
      set: { endDate },
    })
}
