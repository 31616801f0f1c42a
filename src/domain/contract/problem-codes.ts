import { type CodeEntry, codesOf, engineCodes, of, type Problem } from '../../engine/base/errors.ts'

// The more special one comes first.
const { RATE_LIMITED, ...ofEngine } = engineCodes

const byStatus = <Codes extends Record<string, CodeEntry>>(codes: Codes) =>
  Object.fromEntries(Object.entries(codes).sort(([, one], [, other]) => one.status - other.status)) as Codes

/** All error codes of both surfaces, by status (DECISIONS, errors). Facts help to correct a request: counts, limits, ISO 8601
 *  timestamps, amounts with their currency, seconds. */
export const problemCodes = byStatus({
  ...ofEngine,
  ORIGIN_NOT_ALLOWED: of(403, 'The publishable key was not issued for the origin of the page.'),
  SOLD_OUT: of(409, 'No places are left.', { available: 0 }),
  INSUFFICIENT_AVAILABILITY: of(409, 'Fewer places are left than were requested.', { available: 1 }),
  RATE_CLOSED: of(
    409,
    'The sale of the ticket rate was closed by hand, or the rate was removed or has no price.',
  ),
  NOT_ON_SALE_YET: of(409, 'The sale of the ticket rate has not started.', {
    validFrom: '2026-12-01T09:00:00.000Z',
  }),
  SALE_ENDED: of<{ validUntil?: string }>(409, 'The sale of the ticket rate has ended.', {
    validUntil: '2026-12-31T18:00:00.000Z',
  }),
  EVENT_STARTED: of(409, 'The event has started.', { startDate: '2026-12-31T20:00:00.000Z' }),
  EVENT_ENDED: of(409, 'The event has ended.'),
  DISCOUNT_USED_UP: of(409, 'The discount has fewer uses left than the checkout would take.', {
    available: 1,
  }),
  QR_CODE_TAKEN: of(409, 'Another ticket of the event already has this code.'),
  TOTAL_INCREASED: of(409, 'The total is higher than the expected one.', {
    totalAmount: { amount: '21.60', currency: 'EUR' },
  }),
  IDEMPOTENCY_KEY_IN_USE: of(409, 'Another request with this idempotency key is in progress.'),
  ILLEGAL_TRANSITION: of(409, 'The current status does not allow the request.', {
    from: 'cancelled',
    to: 'updated',
  }),
  ALREADY_ENTERED: of(409, 'Somebody has already entered with the ticket.'),
  SUPPLEMENT_REDEEMED: of(409, 'A supplement of the ticket was already handed out.'),
  WARRANTY_ENDED: of(409, 'The warranty of the ticket has ended.', {
    validUntil: '2026-12-30T20:00:00.000Z',
  }),
  TICKET_TRANSFERRED: of(409, 'The ticket was given to another person, which ended its warranty.'),
  TOO_MANY_WEBHOOKS: of(409, 'The caller already has the maximum number of webhooks.', { limit: 10 }),
  TOO_FEW_TICKETS: of(422, 'The checkout has fewer tickets than the rate requires.', { min: 2, max: 10 }),
  TOO_MANY_TICKETS: of(422, 'The checkout has more tickets than the rate allows.', { min: 1, max: 10 }),
  PRICE_NOT_IN_RATE: of(422, 'The ticket rate has no such price.'),
  SUPPLEMENT_NOT_IN_RATE: of(422, 'The ticket rate has no such supplement.'),
  DUPLICATE_SUPPLEMENT: of(422, 'A ticket has the same supplement twice.'),
  QUESTION_NOT_IN_RATE: of(422, 'The ticket rate has no such question.'),
  DUPLICATE_ANSWER: of(422, 'A question is answered twice.'),
  ANSWER_REQUIRED: of(422, 'A required question is not answered.'),
  ANSWER_NOT_OFFERED: of(422, 'The question takes another kind of answer, or offers no such choice.'),
  WARRANTY_NOT_OFFERED: of(422, 'The ticket rate offers no warranty.'),
  UNDER_AGE: of(422, 'The attendee is under the minimum age of the event.', { minimumAge: 18 }),
  DISCOUNT_UNKNOWN: of(422, 'The organization has no discount with this code.'),
  DISCOUNT_NOT_VALID: of<{ validFrom?: string; validUntil?: string }>(
    422,
    'The discount is not valid yet, or no longer.',
    { validFrom: '2026-12-01T00:00:00.000Z', validUntil: '2026-12-24T00:00:00.000Z' },
  ),
  DISCOUNT_NOT_FOR_RATE: of(422, 'The discount does not apply to this ticket rate.'),
  DUPLICATE_QR_CODE: of(422, 'Two tickets of the checkout have the same code.'),
  IDEMPOTENCY_KEY_REUSED: of(422, 'The idempotency key was used for a different request.'),
  REFUND_TOO_HIGH: of(422, 'The amount is higher than the amount still refundable.', {
    refundable: { amount: '12.50', currency: 'EUR' },
  }),
  NO_WARRANTY: of(422, 'The ticket has no warranty.'),
  TRANSFER_NOT_ALLOWED: of(422, 'Tickets of this rate may not be given to another person.'),
  ADDRESS_NOT_ALLOWED: of(422, 'The webhook URL is not a public address.'),
  CURSOR_UNKNOWN: of(422, 'The cursor belongs to another caller or database: start again without it.'),
  TOO_MANY_RESENDS: of(
    429,
    'The ticket was sent again or transferred too often within 24 hours. Retry after `retryAfter` seconds.',
    { limit: 5, retryAfter: 3600 },
  ),
  RATE_LIMITED,
})

export type Code = keyof typeof problemCodes

type NamesOf<Facts> = Facts extends object ? keyof Facts : never

/** Name of a fact that some code has. */
type FactName = NamesOf<(typeof problemCodes)[Code]['facts']>

/** Each fact: what it is, and its description. */
const facts: Record<FactName, ['count' | 'amount' | 'moment' | 'status', description: string]> = {
  available: ['count', 'Number of places, or of uses of a discount, that are left.'],
  min: ['count', 'Minimum number of tickets per checkout.'],
  max: ['count', 'Maximum number of tickets per checkout.'],
  limit: ['count', 'Limit that was exceeded, in the unit that the message names.'],
  validFrom: ['moment', 'Start of the sale, or of the validity of a discount.'],
  validUntil: ['moment', 'End of the sale, or of the validity of a discount.'],
  startDate: ['moment', 'Start of the event.'],
  minimumAge: ['count', 'Minimum age of the event, in years.'],
  totalAmount: ['amount', 'Total at the current price, in major units.'],
  retryAfter: ['count', 'Number of seconds after which to retry, as in the `Retry-After` header.'],
  refundable: ['amount', 'Amount that can still be refunded, in major units.'],
  from: ['status', 'Current status.'],
  to: ['status', 'Requested status.'],
}

export const { problem, refusal } = codesOf(problemCodes)

/** Problem for a transition that the current status does not allow. */
export const illegalTransition = (
  thing: 'ticket' | 'payment',
  { id, status }: { id: string; status: string },
  to: string,
): Problem => ({
  ...problem('ILLEGAL_TRANSITION', `The ${thing} is ${status}, and can't become ${to}.`, undefined, {
    from: status,
    to,
  }),
  about: thing === 'ticket' ? { ticketId: id } : { paymentId: id },
})

declare module '../../engine/base/errors.ts' {
  interface Problem {
    /** Rows that it is about, for clients that read their current state beside it. */
    about?: { ticketRateId?: string; ticketId?: string; paymentId?: string }
  }
}

declare module 'fastify' {
  interface FastifySchema {
    /** Codes that the route refuses requests with, besides those that its credentials, its input and its method
     *  imply. */
    refuses?: readonly Code[]
  }
}

/** Refusals of REST, for their documentation. */
export const documentedRefusals = { codes: problemCodes, facts, path: 'tickets.0.answers.1' }
