import { requestLimits } from './request-limits.ts'

/** All error codes of both surfaces, and their HTTP statuses in REST (DECISIONS 6). */
export const statusOf = {
  // Clients of persisted queries look for its error in an answer that succeeded.
  PERSISTED_QUERY_NOT_FOUND: 200,
  BAD_REQUEST: 400,
  INVALID: 400,
  REQUIRED: 400,
  UNKNOWN_FIELD: 400,
  QUERY_TOO_COMPLEX: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  UNTRUSTED_DOCUMENT: 403,
  ORIGIN_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  SOLD_OUT: 409,
  INSUFFICIENT_AVAILABILITY: 409,
  RATE_CLOSED: 409,
  NOT_ON_SALE_YET: 409,
  SALE_ENDED: 409,
  EVENT_STARTED: 409,
  EVENT_ENDED: 409,
  DISCOUNT_USED_UP: 409,
  QR_CODE_TAKEN: 409,
  TOTAL_INCREASED: 409,
  IDEMPOTENCY_KEY_IN_USE: 409,
  ILLEGAL_TRANSITION: 409,
  ALREADY_ENTERED: 409,
  SUPPLEMENT_REDEEMED: 409,
  WARRANTY_ENDED: 409,
  TICKET_TRANSFERRED: 409,
  TOO_MANY_WEBHOOKS: 409,
  BODY_TOO_LARGE: 413,
  METADATA_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MIN_TICKETS: 422,
  MAX_TICKETS: 422,
  PRICE_NOT_IN_RATE: 422,
  SUPPLEMENT_NOT_IN_RATE: 422,
  DUPLICATE_SUPPLEMENT: 422,
  QUESTION_NOT_IN_RATE: 422,
  DUPLICATE_ANSWER: 422,
  ANSWER_REQUIRED: 422,
  ANSWER_NOT_AN_ITEM: 422,
  WARRANTY_NOT_OFFERED: 422,
  UNDER_AGE: 422,
  DISCOUNT_UNKNOWN: 422,
  DISCOUNT_NOT_VALID: 422,
  DISCOUNT_NOT_FOR_RATE: 422,
  DUPLICATE_QR_CODE: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  REFUND_TOO_HIGH: 422,
  NO_WARRANTY: 422,
  TRANSFER_NOT_ALLOWED: 422,
  ADDRESS_NOT_ALLOWED: 422,
  CURSOR_UNKNOWN: 422,
  TOO_MANY_RESENDS: 429,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  BUSY: 503,
} as const

export type Code = keyof typeof statusOf

/** Facts that help to correct a request: counts, limits, ISO 8601 timestamps, amounts in major units,
 *  seconds. */
export type FactsByCode = {
  SOLD_OUT: { available: number }
  INSUFFICIENT_AVAILABILITY: { available: number }
  MIN_TICKETS: { min: number; max: number }
  MAX_TICKETS: { min: number; max: number }
  NOT_ON_SALE_YET: { validFrom: string }
  SALE_ENDED: { validUntil?: string }
  EVENT_STARTED: { startDate: string }
  DISCOUNT_NOT_VALID: { validFrom?: string; validUntil?: string }
  DISCOUNT_USED_UP: { available: number }
  UNDER_AGE: { minimumAge: number }
  TOTAL_INCREASED: { totalAmount: number }
  METADATA_TOO_LARGE: { limit: number }
  TOO_MANY_WEBHOOKS: { limit: number }
  ILLEGAL_TRANSITION: { from: string; to: string }
  REFUND_TOO_HIGH: { refundable: number }
  WARRANTY_ENDED: { validUntil: string }
  TOO_MANY_RESENDS: { limit: number; retryAfter: number }
  RATE_LIMITED: { limit: number; retryAfter: number }
  BUSY: { retryAfter: number }
}

/** Codes that need no facts. */
export type CodeWithoutFacts = Exclude<Code, keyof FactsByCode>

/** Name of a fact. */
export type FactName = { [C in keyof FactsByCode]: keyof FactsByCode[C] }[keyof FactsByCode]

// `path` locates the invalid input, with camelCase field names.
type Reason = { message: string; path?: (string | number)[] }

/** Reason of a refusal with one of these codes, and its facts. */
export type ProblemWith<Codes extends keyof FactsByCode> = {
  [C in Codes]: Reason & { code: C; facts: FactsByCode[C] }
}[Codes]

/** Reason of a refusal. */
export type Problem =
  | (Reason & { code: CodeWithoutFacts; facts?: undefined })
  | ProblemWith<keyof FactsByCode>

/** Creates a problem. Codes with facts require them. */
export const problem = <C extends Code>(
  code: C,
  message: string,
  path: Reason['path'],
  ...[facts]: C extends keyof FactsByCode ? [facts: FactsByCode[C]] : []
): Problem =>
  // The parameters tie the facts to the code.
  ({ code, message, path, facts }) as Problem

/** Returns the seconds after which to retry; undefined if retrying does not help. */
export const retryAfterOf = ({ facts }: Problem): number | undefined =>
  facts && 'retryAfter' in facts ? facts.retryAfter : undefined

/** Problem for a transition that the current status does not allow. */
export const illegalTransition = (thing: string, from: string, to: string): Problem => ({
  code: 'ILLEGAL_TRANSITION',
  message: `The ${thing} is ${from}, and can't become ${to}.`,
  facts: { from, to },
})

/** An error that clients may see. Any other error is masked, and shows only the request id. */
export class Refusal extends Error {
  readonly problems: [Problem, ...Problem[]]
  /** Code of the first problem. */
  readonly code: Code

  constructor(...problems: [Problem, ...Problem[]]) {
    super(problems[0].message)
    this.name = 'Refusal'
    this.problems = problems
    this.code = problems[0].code
  }
}

/** Refusal for temporary overload, with the time after which to retry. */
export const busy = (message = 'The service is busy. Try again.') =>
  new Refusal({ code: 'BUSY', message, facts: { retryAfter: 1 } })

/** Throws one `Refusal` with all problems, if there are any. */
export function refuseIf(problems: Problem[]): void {
  const [first, ...rest] = problems
  if (first) throw new Refusal(first, ...rest)
}

const { maxErrors, maxErrorCharacters } = requestLimits

const charactersOf = ({ message, path = [] }: Problem) =>
  path.reduce<number>((sum, key) => sum + String(key).length + 1, message.length)

/** Limits problems to the number and size that a response may list. Always keeps the first. */
export function limitProblems([first, ...others]: readonly [Problem, ...Problem[]]): [Problem, ...Problem[]] {
  let characters = charactersOf(first)
  const kept = others.slice(0, maxErrors - 1)
  const end = kept.findIndex((problem) => {
    characters += charactersOf(problem)
    return characters > maxErrorCharacters
  })
  return [first, ...(end < 0 ? kept : kept.slice(0, end))]
}

/** Finds the code of an error, or of the nearest of its causes that has one: PostgreSQL's, the network's or a
 *  service's. Log this and never Drizzle's message, which contains parameters. */
export function errorCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  return undefined
}
