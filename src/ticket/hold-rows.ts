import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Connection } from '../database.ts'
import { newId, newQrCode, newSecret } from '../ids.ts'
import type { Payment } from '../payment/table.ts'
import type { CheckoutInput } from './checkout-input.ts'
import type { CheckoutPlan } from './plan-checkout.ts'
import type { Ticket } from './table.ts'

/** A checkout that is planned and wants its stock. */
export type HoldJob = {
  plan: CheckoutPlan
  input: CheckoutInput
  idempotency: Idempotency | null
  channelId: string
  provider: string
  holdMinutes: number
}

export type Checkout = { payment: Payment; tickets: Ticket[] }
/** The `Idempotency-Key` that a checkout is kept under, and what it asked for. */
export type Idempotency = { id: string; requestHash: string }

function toPayment({ plan, input, channelId, provider, holdMinutes }: HoldJob, now: Date): Payment {
  const isFree = plan.totalAmount === 0
  return {
    id: newId('pay'),
    channelId,
    organizationId: plan.organization.id,
    ticketRateId: plan.rate.id,
    status: isFree ? 'paid' : 'pending',
    provider,
    totalAmount: plan.totalAmount,
    currency: plan.currency,
    conditionsChanged: plan.conditionsChanged,
    pageToken: newSecret(),
    redirectUrl: input.redirectUrl ?? null,
    errorUrl: input.errorUrl ?? null,
    sendResourcers: input.sendResourcers ?? false,
    createdAt: now,
    expiresAt: new Date(now.getTime() + holdMinutes * 60_000),
    paidAt: isFree ? now : null,
  }
}

const toTickets = ({ plan, input }: HoldJob, payment: Payment, now: Date): Ticket[] =>
  plan.tickets.map(({ entry, price, ...amounts }, position) => ({
    ...amounts,
    id: newId('tkt'),
    paymentId: payment.id,
    position,
    organizationId: payment.organizationId,
    channelId: payment.channelId,
    eventId: plan.rate.eventId,
    ticketRateId: plan.rate.id,
    priceId: price.id,
    status: payment.status === 'paid' ? 'active' : 'held',
    qrCode: entry.qrCode ?? newQrCode(),
    currency: plan.currency,
    refundedAmount: 0,
    refundedAt: null,
    refunds: [],
    fullName: entry.fullName,
    email: entry.email,
    phone: entry.phone ?? null,
    gender: entry.gender ?? null,
    birthday: entry.birthday ?? null,
    address: entry.address ?? null,
    postalCode: entry.postalCode ?? null,
    countryCode: entry.countryCode ?? null,
    personalDocumentType: entry.personalDocumentType ?? null,
    personalDocumentNumber: entry.personalDocumentNumber ?? null,
    answers: entry.answers ?? [],
    metadata: input.metadata ?? null,
    admits: 1,
    entered: 0,
    lastEntryAt: null,
    invoiceReference: null,
    correctiveInvoiceReferences: [],
    createdAt: now,
    activatedAt: payment.paidAt,
  }))

/** The rows of a checkout, whole: what it answers with is what is written, and nothing is read back. */
export function toCheckout(job: HoldJob, now: Date): Checkout {
  const payment = toPayment(job, now)
  return { payment, tickets: toTickets(job, payment, now) }
}

/** Writes any number of whole rows in one statement of one parameter, so that it is prepared once. */
export async function insertRows<Table extends PgTable>(
  tx: Connection,
  table: Table,
  rows: Table['$inferSelect'][],
): Promise<void> {
  const columns = Object.entries(getTableColumns(table))
  const names = columns.map(([, { name }]) => sql.identifier(name))
  const json = rows.map((row: Record<string, unknown>) =>
    Object.fromEntries(columns.map(([property, { name }]) => [name, row[property]])),
  )
  await tx
    .insert(table)
    .select(
      sql`select ${sql.join(names, sql`, `)} from json_populate_recordset(null::${table}, ${sql.placeholder('rows')}::json)`,
    )
    .prepare(`insert_${getTableName(table)}`)
    .execute({ rows: JSON.stringify(json) })
}
