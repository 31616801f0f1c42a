import { eq } from 'drizzle-orm'
import { modes } from '../../src/domain/caller/mode.ts'
import { events } from '../../src/domain/event/table.ts'
import { locations } from '../../src/domain/location/table.ts'
import { type SalesGrouping, type SalesRow, sumSales } from '../../src/domain/sale/report/sales-loaders.ts'
import { type Ticket, tickets } from '../../src/domain/ticket/table.ts'
import { isPaid, raised, totalPaid } from '../../src/domain/ticket/views.ts'
import type { Connection } from '../../src/engine/database/database.ts'
import { amountsOf } from './contract-input.ts'

// Sums of sales, added up here ticket by ticket, in integers, and by nothing of the gateway's SQL.

const dayIn = (timeZone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })

const keys: Record<SalesGrouping, (ticket: Ticket, timeZone: string) => string | null> = {
  RATE: ({ ticketRateId }) => ticketRateId,
  PRICE: ({ priceId }) => priceId,
  DAY: ({ activatedAt }, timeZone) => activatedAt && dayIn(timeZone).format(activatedAt),
  CHANNEL: ({ channelId, organizationId }) => (channelId === organizationId ? null : channelId),
  REFERRAL: ({ referralId }) => referralId,
  SALE_TYPE: ({ saleType }) => saleType,
}
export const groupings = Object.keys(keys) as SalesGrouping[]

/** Names of the amounts of a row of `sales`, and a selection of all of its fields. */
export const salesAmounts = ['gross', 'discounted', 'commission', 'refunded', 'net']
export const salesFields = `ticketRate { id } price { id } day channel { id } referral saleType name
  ticketCount cancelled inside ${amountsOf(...salesAmounts)}`

type Sums = Omit<SalesRow, 'eventId' | 'groupBy' | 'name' | 'currency'>

const inOrder = ({ key: one }: Sums, { key: other }: Sums) => {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Adds up tickets by a grouping, in the order of `sales`. */
export function addUp(all: Ticket[], grouping: SalesGrouping, timeZone: string): Sums[] {
  const rows = new Map<string | null, Sums>()
  for (const ticket of all.filter(isPaid)) {
    const key = keys[grouping](ticket, timeZone)
    const zero = {
      ticketCount: 0,
      cancelled: 0,
      gross: 0,
      discounted: 0,
      commission: 0,
      refunded: 0,
      net: 0,
      inside: 0,
    }
    const row = rows.get(key) ?? { key, ...zero }
    rows.set(key, row)
    row.ticketCount++
    row.cancelled += ticket.status === 'cancelled' ? 1 : 0
    row.gross += totalPaid(ticket) + ticket.discountAmount
    row.discounted += ticket.discountAmount
    row.refunded += ticket.refundedAmount
    row.net += raised(ticket)
    row.commission += totalPaid(ticket) - ticket.refundedAmount - raised(ticket)
    row.inside += ticket.entered
  }
  return [...rows.values()].sort(inOrder)
}

/** Lists the events and groupings whose sums differ from the tickets in the database. */
export async function wrongSums(db: Connection): Promise<string[]> {
  const rows = await db.select().from(tickets)
  const shown = await db
    .select({ id: events.id, organizationId: events.organizationId, timezone: locations.timezone })
    .from(events)
    .leftJoin(locations, eq(locations.id, events.locationId))
  const wrong: string[] = []
  for (const { id, organizationId, timezone } of shown) {
    if (!rows.some(({ eventId }) => eventId === id)) continue
    for (const [mode, groupBy] of allAsked) {
      const ofEvent = rows.filter((row) => row.eventId === id && row.mode === mode)
      const asked = { eventIds: [id], groupBy, mode, organizationId, after: '', first: 1_000_000 }
      const given = await sumSales(db, asked)
      const expected = addUp(ofEvent, groupBy, timezone ?? 'UTC')
      const isSame =
        given.length === expected.length && expected.every((row, index) => sameSums(row, given[index]))
      if (!isSame)
        wrong.push(
          `sales of ${id} by ${groupBy}: ${JSON.stringify(given)} instead of ${JSON.stringify(expected)}`,
        )
    }
  }
  return wrong
}

const allAsked = modes.flatMap((mode) => groupings.map((groupBy) => [mode, groupBy] as const))

const sameSums = (one: Sums, other: Sums | undefined): boolean =>
  Object.entries(one).every(([name, value]) => other?.[name as keyof Sums] === value)
