import type { Idempotency } from '../../../caller/idempotency.ts'
import { newDocumentToken, newPageToken, newQrCode, newSoldId } from '../../../contract/ids.ts'
import { searchNameOf } from '../../../event/search-words.ts'
import type { Payment } from '../../../payment/table.ts'
import type { Ticket } from '../../../ticket/table.ts'
import type { CheckoutInput } from '../checkout-input.ts'
import type { CheckoutPlan } from '../plan-checkout.ts'
import type { PricedTicket } from '../price-tickets.ts'

/** Planned checkout whose stock is to be held. */
export type HoldJob = {
  plan: CheckoutPlan
  input: Omit<CheckoutInput, 'tickets'>
  idempotency: Idempotency | null
  seller: Seller
  holdMinutes: number
}

/** Way of selling. A sale at the box office and an invitation are paid at once. */
type Seller = Pick<Payment, 'channelId' | 'mode' | 'provider'> & {
  saleType: Ticket['saleType']
  /** True if a publishable key sells. */
  isPublic?: boolean
} & Partial<Pick<Payment, 'method' | 'methodReference'>>

export type Checkout = { payment: Payment; tickets: Ticket[] }

// Rows with what `hold` is told beside their columns.
type HoldColumns = {
  ticketRateId: string
  holdMinutes: number
  keyId: string | null
  requestHash: string | null
}
type HeldPayment = Payment & HoldColumns
type HeldTicket = Ticket & { isCodeAsked: boolean }

// Placeholder until `setTimes`: the database's clock decides.
const unsetTime = new Date(0)

// Spelled out column by column, like its tickets: put together from spread parts, these were a fifth of all that a checkout
// allocated, and copies of them a tenth of its processor time.
function toPayment(job: HoldJob): HeldPayment {
  const { plan, input, seller, idempotency } = job
  const id = newSoldId('pay', plan.rate.organizationNumber)
  return {
    id,
    channelId: seller.channelId,
    organizationId: plan.rate.organizationId,
    status: 'pending',
    provider: seller.provider,
    mode: seller.mode,
    totalAmount: plan.totalAmount,
    currency: plan.rate.currency,
    conditionsChanged: plan.conditionsChanged,
    pageToken: newPageToken(id, plan.rate.organizationId),
    redirectUrl: input.redirectUrl ?? null,
    errorUrl: input.errorUrl ?? null,
    sendTickets: input.sendTickets ?? false,
    language: input.language ?? null,
    method: seller.method ?? null,
    methodReference: seller.methodReference ?? null,
    refundedAmount: 0,
    invoiceReference: null,
    sessionId: null,
    sessionUrl: null,
    sessionOpen: false,
    sessionAskedAt: null,
    createdAt: unsetTime,
    expiresAt: unsetTime,
    paidAt: null,
    ticketRateId: plan.rate.id,
    holdMinutes: job.holdMinutes,
    keyId: idempotency?.id ?? null,
    requestHash: idempotency?.requestHash ?? null,
  }
}

function toTicket(job: HoldJob, payment: Payment, ticket: PricedTicket, position: number): HeldTicket {
  const { plan, input, seller } = job
  const id = newSoldId('tkt', plan.rate.organizationNumber)
  return {
    id,
    paymentId: payment.id,
    position,
    organizationId: payment.organizationId,
    channelId: payment.channelId,
    eventId: plan.rate.eventId,
    ticketRateId: plan.rate.id,
    priceId: ticket.price.id,
    status: 'held',
    saleType: seller.saleType,
    mode: payment.mode,
    qrCode: ticket.entry.qrCode ?? newQrCode(),
    currency: payment.currency,
    priceAmount: ticket.priceAmount,
    discountId: ticket.discountId,
    discountAmount: ticket.discountAmount,
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
    searchName: searchNameOf(ticket.entry.fullName),
    email: ticket.entry.email,
    phone: ticket.entry.phone ?? null,
    gender: ticket.entry.gender ?? null,
    birthday: ticket.entry.birthday ?? null,
    address: ticket.entry.address ?? null,
    postalCode: ticket.entry.postalCode ?? null,
    countryCode: ticket.entry.countryCode ?? null,
    personalDocumentType: ticket.entry.personalDocumentType ?? null,
    personalDocumentNumber: ticket.entry.personalDocumentNumber ?? null,
    answers: ticket.answers,
    supplements: ticket.supplements,
    language: ticket.entry.language ?? input.language ?? plan.rate.language,
    referralId: input.referralId ?? null,
    metadata: input.metadata ?? null,
    admits: plan.rate.admits,
    entered: 0,
    lastEntryAt: null,
    firstEntryAt: null,
    documentToken: newDocumentToken(id, payment.organizationId),
    cancelledAt: null,
    invoiceReference: null,
    correctiveInvoiceReferences: [],
    createdAt: unsetTime,
    activatedAt: null,
    updatedAt: unsetTime,
    isCodeAsked: !!ticket.entry.qrCode,
  }
}

/** Builds the rows of a checkout, complete but for their times. The checkout returns these same rows: nothing
 *  is read back. */
export function toCheckout(job: HoldJob) {
  const payment = toPayment(job)
  const tickets = job.plan.tickets.map((ticket, position) => toTicket(job, payment, ticket, position))
  return { payment, tickets }
}

/** Sets the times of a checkout's rows to those that the database wrote. */
export function setTimes({ payment, tickets }: Checkout, holdMinutes: number, now: Date): void {
  payment.createdAt = now
  payment.expiresAt = new Date(now.getTime() + holdMinutes * 60_000)
  for (const ticket of tickets) ticket.createdAt = ticket.updatedAt = now
}

/** Organization and mode that jobs of a statement sell for. Throws if there are several organizations: their rows may lie
 *  on different servers. */
export function organizationAndModeOf([first, ...others]: HoldJob[]) {
  const organizationId = first?.plan.rate.organizationId
  if (!first || others.some(({ plan }) => plan.rate.organizationId !== organizationId))
    throw new Error('checkouts of several organizations were held together')
  return { organizationId: first.plan.rate.organizationId, mode: first.seller.mode }
}

/** True for a total of 0 (DECISIONS, checkout), and for what the organization sells or gives away itself. */
export const isPaidAtOnce = ({ plan, seller }: HoldJob): boolean =>
  plan.totalAmount === 0 || seller.saleType !== 'online'
