import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Database } from '../../engine/database/database.ts'
import { rowInSnakeCase } from '../../engine/rest/snake-case.ts'
import { changes } from '../change/table.ts'
import { checkIns, redemptions } from '../check-in/table.ts'
import { deliveries } from '../delivery/table.ts'
import { invoices } from '../invoice/table.ts'
import { charges, payments } from '../payment/table.ts'
import { refunds } from '../refund/table.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { findDeliveriesTo, findTicketsOfPerson } from './find-person.ts'

type Row = Record<string, unknown>

// Secrets that open a page or a session, hashes, and copies of other columns.
const left = new Set([
  ...['documentToken', 'pageToken', 'sessionId', 'sessionUrl', 'sessionAskedAt'],
  ...['requestHash', 'idempotencyKey', 'searchName', 'ended'],
])

const toBody = (row: Row) =>
  rowInSnakeCase(Object.fromEntries(Object.entries(row).filter(([name]) => !left.has(name))))

const kinds = [
  ...(['tickets', 'payments', 'charges', 'refunds', 'invoices', 'deliveries'] as const),
  ...(['check_ins', 'redemptions', 'changes'] as const),
] as const

type Kind = (typeof kinds)[number]

// Rows of a page of tickets, which are of one organization.
async function findOf(db: Database, page: Ticket[]): Promise<Record<Kind, Row[]>> {
  const ticketIds = page.map(({ id }) => id)
  const paymentIds = [...new Set(page.map(({ paymentId }) => paymentId))]
  const addresses = page.flatMap(({ email, phone }) => (phone === null ? [email] : [email, phone]))
  const isOfTicket = inArray(deliveries.ticketId, ticketIds)
  const isToThem = sql`${inArray(deliveries.recipient, addresses)} and (${deliveries.ticketId} is null or ${isOfTicket})`
  const ofRefund = or(
    inArray(refunds.ticketId, ticketIds),
    sql`${inArray(refunds.paymentId, paymentIds)} and ${refunds.ticketId} is null`,
  )
  const rowsOf = (table: PgTable & { organizationId: PgColumn }, condition?: SQL): Promise<Row[]> =>
    db
      .select()
      .from(table as PgTable)
      .where(and(eq(table.organizationId, page[0]?.organizationId), condition))
  return {
    tickets: page,
    payments: await rowsOf(payments, inArray(payments.id, paymentIds)),
    charges: await rowsOf(charges, inArray(charges.paymentId, paymentIds)),
    refunds: await rowsOf(refunds, ofRefund),
    invoices: await rowsOf(invoices, inArray(invoices.paymentId, paymentIds)),
    deliveries: await rowsOf(deliveries, sql`${inArray(deliveries.paymentId, paymentIds)} and ${isToThem}`),
    check_ins: await rowsOf(checkIns, inArray(checkIns.ticketId, ticketIds)),
    redemptions: await rowsOf(redemptions, inArray(redemptions.ticketId, ticketIds)),
    changes: await rowsOf(changes, inArray(changes.subjectId, [...ticketIds, ...paymentIds])),
  }
}

/** Collects everything that is held about a person by the e-mail address, whatever its case: tickets of all
 *  organizations and modes that bear it, what was paid, refunded, invoiced, sent and scanned for them, and
 *  what was sent to the address for tickets that are somebody else's now. Rows as they are stored, with names in snake
 *  case: amounts in minor units, times in ISO 8601. */
export async function exportPerson(db: Database, email: string) {
  const found = new Map(kinds.map((kind) => [kind, new Map<string, Row>()]))
  const add = (kind: Kind, rows: Row[]) => {
    for (const row of rows)
      found.get(kind)?.set(`${row.id ?? `${row.integrationId} ${row.idempotencyKey}`}`, toBody(row))
  }
  for await (const page of findTicketsOfPerson(db, email)) {
    const rows = await findOf(db, page)
    for (const kind of kinds) add(kind, rows[kind])
  }
  for await (const page of findDeliveriesTo(db, email)) add('deliveries', page)
  const [clock] = await db
    .select({ now: sql<Date>`now()`.mapWith(tickets.createdAt) })
    .from(sql`(select) as one`)
  const rows = Object.fromEntries(Array.from(found, ([kind, byId]) => [kind, [...byId.values()]]))
  return { email, exported_at: clock?.now ?? new Date(Number.NaN), ...(rows as Record<Kind, Row[]>) }
}
