// A status of REST, the meaning, with field names in GraphQL's spelling, and the facts of an example.
const of = <Facts extends object | undefined = undefined>(status: number, text: string, facts?: Facts) => ({
  status,
  text,
  facts: facts as Facts,
})
const maybe = (fact: string): string | undefined => fact

/** All error codes of both surfaces (DECISIONS 6). Facts help to correct a request: counts, limits, ISO 8601 timestamps,
 *  amounts with their currency, seconds. */
export const problemCodes = {
  // Clients of persisted queries look for its error in an answer that succeeded.
  PERSISTED_QUERY_NOT_FOUND: of(
    200,
    'No document is registered under this identifier: send its text as well.',
  ),
  BAD_REQUEST: of(400, 'The request is malformed.'),
  INVALID: of(400, 'A field has an invalid value.'),
  REQUIRED: of(400, 'A required field is missing.'),
  UNKNOWN_FIELD: of(400, 'The input has a field that does not exist.'),
  QUERY_TOO_COMPLEX: of(400, 'The query exceeds a limit, such as its complexity or depth.'),
  UNAUTHENTICATED: of(401, 'The credentials are missing or invalid.'),
  FORBIDDEN: of(403, 'The credentials are valid, but for the wrong kind of caller, or without the scope.'),
  UNTRUSTED_DOCUMENT: of(403, 'The service executes only documents that were registered beforehand.'),
  ORIGIN_NOT_ALLOWED: of(403, 'The publishable key was not issued for the origin of the page.'),
  NOT_FOUND: of(404, 'The object does not exist, or the caller may not see it.'),
  METHOD_NOT_ALLOWED: of(405, 'The path does not support this HTTP method.'),
  NOT_ACCEPTABLE: of(406, 'The response has none of the media types that the client accepts.'),
  SOLD_OUT: of(409, 'No places are left.', { available: 0 }),
  INSUFFICIENT_AVAILABILITY: of(409, 'Fewer places are left than were requested.', { available: 1 }),
  RATE_CLOSED: of(
    409,
    'The sale of the ticket rate was closed by hand, or the rate was removed or has no price.',
  ),
  NOT_ON_SALE_YET: of(409, 'The sale of the ticket rate has not started.', {
    validFrom: '2026-12-01T09:00:00.000Z',
  }),
  SALE_ENDED: of(409, 'The sale of the ticket rate has ended.', {
    validUntil: maybe('2026-12-31T18:00:00.000Z'),
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
  BODY_TOO_LARGE: of(413, 'The body is too large.'),
  METADATA_TOO_LARGE: of(413, 'The metadata is larger than 1024 bytes.', { limit: 1024 }),
  UNSUPPORTED_MEDIA_TYPE: of(415, 'The body has an unsupported media type.'),
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
  DISCOUNT_NOT_VALID: of(422, 'The discount is not valid yet, or no longer.', {
    validFrom: maybe('2026-12-01T00:00:00.000Z'),
    validUntil: maybe('2026-12-24T00:00:00.000Z'),
  }),
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
  RATE_LIMITED: of(429, 'Too many requests. Retry after `retryAfter` seconds.', {
    limit: 1000,
    retryAfter: 1,
  }),
  INTERNAL: of(500, 'The service failed. Report the request id.'),
  BUSY: of(503, 'The service is busy. Retry after `retryAfter` seconds.', { retryAfter: 1 }),
}

export type Code = keyof typeof problemCodes

type ExampleFacts<C extends Code> = (typeof problemCodes)[C]['facts']

/** Codes that need no facts. */
export type CodeWithoutFacts = { [C in Code]: ExampleFacts<C> extends undefined ? C : never }[Code]

type WithOptional<Facts> = {
  [N in keyof Facts as undefined extends Facts[N] ? never : N]: Facts[N]
} & { [N in keyof Facts as undefined extends Facts[N] ? N : never]?: Exclude<Facts[N], undefined> }

/** Facts of each code that has some. */
export type FactsByCode = { [C in Exclude<Code, CodeWithoutFacts>]: WithOptional<ExampleFacts<C>> }

/** Names of the facts that one of these codes has. */
export type FactName<Codes extends keyof FactsByCode = keyof FactsByCode> = {
  [C in Codes]: keyof FactsByCode[C]
}[Codes]

/** Each fact: what it is, and its description. */
export const facts: Record<FactName, ['count' | 'amount' | 'moment' | 'status', description: string]> = {
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
