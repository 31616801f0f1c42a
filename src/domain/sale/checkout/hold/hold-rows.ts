import { newId, newQrCode, newSecret } from '../../../../shared/ids.ts'
import type { Payment } from '../../../payment/table.ts'
import type { Ticket } from '../../../ticket/table.ts'
import { type StockMove, stockMoves } from '../../../ticket-rate/move-stock.ts'
import type { CheckoutInput } from '../checkout-input.ts'
import type { CheckoutPlan } from '../plan-checkout.ts'
import type { PricedTicket } from '../price-tickets.ts'

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

// Until the database's clock tells it.
const noTime = new Date(0)

const toPayment = ({ plan, input, channelId, provider }: HoldJob): Payment => ({
  id: newId('pay'),
  channelId,
  organizationId: plan.rate.organizationId,
  ticketRateId: plan.rate.id,
  status: 'pending',
  provider,
  totalAmount: plan.totalAmount,
  currency: plan.currency,
  conditionsChanged: plan.conditionsChanged,
  pageToken: newSecret(),
  redirectUrl: input.redirectUrl ?? null,
  errorUrl: input.errorUrl ?? null,
  sendResourcers: input.sendResourcers ?? false,
  refundedAmount: 0,
  invoiceReference: null,
  sessionId: null,
  sessionUrl: null,
  sessionOpen: false,
  sessionDueAt: null,
  sessionAskedAt: null,
  createdAt: noTime,
  expiresAt: noTime,
  paidAt: null,
})

/** What a new payment leaves to the defaults of its columns: nobody has done anything to it yet. */
export const untouchedPayment = [
  'refundedAmount',
  'invoiceReference',
  'sessionId',
  'sessionUrl',
  'sessionOpen',
  'sessionDueAt',
  'sessionAskedAt',
] satisfies (keyof Payment)[]

/** The same of a new ticket. */
export const untouchedTicket = [
  'refundedAmount',
  'refundedAt',
  'refunds',
  'admits',
  'entered',
  'lastEntryAt',
  'firstEntryAt',
  'documentToken',
  'cancelledAt',
  'invoiceReference',
  'correctiveInvoiceReferences',
] satisfies (keyof Ticket)[]

// Written out column by column: made by spreading, these objects were a fifth of all that a checkout allocated.
const toTicket = (
  { plan, input }: HoldJob,
  payment: Payment,
  ticket: PricedTicket,
  position: number,
): Ticket => ({
  id: newId('tkt'),
  paymentId: payment.id,
  position,
  organizationId: payment.organizationId,
  channelId: payment.channelId,
  eventId: plan.rate.eventId,
  ticketRateId: plan.rate.id,
  priceId: ticket.price.id,
  status: 'held',
  qrCode: ticket.entry.qrCode ?? newQrCode(),
  currency: plan.currency,
  priceAmount: ticket.priceAmount,
  supplementsAmount: ticket.supplementsAmount,
  organizationFeeAmount: ticket.organizationFeeAmount,
  platformFeeAmount: ticket.platformFeeAmount,
  warrantyAmount: ticket.warrantyAmount,
  totalAmount: ticket.totalAmount,
  refundedAmount: 0,
  refundedAt: null,
  refunds: [],
  warrantyHours: ticket.warrantyHours,
  fullName: ticket.entry.fullName,
  email: ticket.entry.email,
  phone: ticket.entry.phone ?? null,
  gender: ticket.entry.gender ?? null,
  birthday: ticket.entry.birthday ?? null,
  address: ticket.entry.address ?? null,
  postalCode: ticket.entry.postalCode ?? null,
  countryCode: ticket.entry.countryCode ?? null,
  personalDocumentType: ticket.entry.personalDocumentType ?? null,
  personalDocumentNumber: ticket.entry.personalDocumentNumber ?? null,
  answers: ticket.entry.answers ?? [],
  supplements: ticket.supplements,
  metadata: input.metadata ?? null,
  admits: 1,
  entered: 0,
  lastEntryAt: null,
  firstEntryAt: null,
  documentToken: null,
  cancelledAt: null,
  invoiceReference: null,
  correctiveInvoiceReferences: [],
  createdAt: noTime,
  activatedAt: null,
})

/** The rows of a checkout, whole but for their times: what it answers with is what is written, and nothing is read
 *  back. */
export function toCheckout(job: HoldJob): Checkout {
  const payment = toPayment(job)
  return {
    payment,
    tickets: job.plan.tickets.map((ticket, position) => toTicket(job, payment, ticket, position)),
  }
}

/** Puts the times into the rows of a checkout: those that the statement that wrote it gave it. */
export function setTimes({ payment, tickets }: Checkout, holdMinutes: number, now: Date): void {
  payment.createdAt = now
  payment.expiresAt = new Date(now.getTime() + holdMinutes * 60_000)
  for (const ticket of tickets) ticket.createdAt = now
}

/** What costs nothing is paid at once (DECISIONS 4). */
export const isFree = ({ plan }: HoldJob): boolean => plan.totalAmount === 0

/** What a checkout takes of its rate and prices. */
export const movesOf = ({ plan }: HoldJob): StockMove[] =>
  stockMoves(
    plan.tickets.map(({ price }) => ({ ticketRateId: plan.rate.id, priceId: price.id })),
    { held: 1 },
  )

/** What checkouts take together, of each rate and price once. */
export function sumOf(jobs: HoldJob[]): { ticketRateId: string; id: string; held: number }[] {
  const sums = new Map<string, { ticketRateId: string; id: string; held: number }>()
  for (const job of jobs)
    for (const { id, held } of movesOf(job)) {
      const sum = sums.get(id)
      if (sum) sum.held += held
      else sums.set(id, { ticketRateId: job.plan.rate.id, id, held })
    }
  return [...sums.values()]
}
