import { requestLimits } from './request-limits.ts'

/** A code of refusals: its status of REST, its meaning, with field names in GraphQL's spelling, and the facts of an example. */
export type CodeEntry = { status: number; text: string; facts: Problem['facts'] }

/** Makes the entry of a code. */
export const of = <Facts extends CodeEntry['facts'] = undefined>(
  status: number,
  text: string,
  facts?: Facts,
) => ({ status, text, facts: facts as Facts })

/** Codes that the engine refuses with. The product has more (DECISIONS, errors). */
export const engineCodes = {
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
  NOT_FOUND: of(404, 'The object does not exist, or the caller may not see it.'),
  METHOD_NOT_ALLOWED: of(405, 'The path does not support this HTTP method.'),
  NOT_ACCEPTABLE: of(406, 'The response has none of the media types that the client accepts.'),
  BODY_TOO_LARGE: of(413, 'The body is too large.'),
  METADATA_TOO_LARGE: of(413, 'The metadata is larger than 1024 bytes.', { limit: 1024 }),
  UNSUPPORTED_MEDIA_TYPE: of(415, 'The body has an unsupported media type.'),
  RATE_LIMITED: of(429, 'Too many requests. Retry after `retryAfter` seconds.', {
    limit: 1000,
    retryAfter: 1,
  }),
  INTERNAL: of(500, 'The service failed. Report the request id.'),
  BUSY: of(503, 'The service is busy. Retry after `retryAfter` seconds.', { retryAfter: 1 }),
}

/** Reason of a refusal. `path` locates the invalid input, with camelCase field names. */
export interface Problem {
  code: string
  status: number
  message: string
  path?: (string | number)[] | undefined
  facts?: Record<string, unknown> | undefined
}

type FactsOf<Entry extends CodeEntry> = Entry['facts'] extends object ? [facts: Entry['facts']] : []

// Ties the facts to the code: codes with facts require them.
type Reasoned<Codes extends Record<string, CodeEntry>, C extends keyof Codes> = [
  code: C,
  message: string,
  path?: Problem['path'],
  ...facts: FactsOf<Codes[C]>,
]

/** Makes what creates problems, and refusals for one reason, with these codes. Codes with facts require them. */
export function codesOf<Codes extends Record<string, CodeEntry>>(codes: Codes) {
  const problem = <C extends keyof Codes & string>(
    ...[code, message, path, facts]: Reasoned<Codes, C>
  ): Problem => ({ code, status: (codes[code] as CodeEntry).status, message, path, facts })
  const refusal = <C extends keyof Codes & string>(...reason: Reasoned<Codes, C>): Refusal =>
    new Refusal(problem(...reason))
  return { problem, refusal }
}

/** Returns the seconds after which to retry; undefined if retrying does not help. */
export const retryAfterOf = ({ facts }: Problem): number | undefined =>
  facts?.retryAfter as number | undefined

/** An error that clients may see. Any other error is masked, and shows only the request id. */
export class Refusal extends Error {
  readonly problems: [Problem, ...Problem[]]
  /** Code of the first problem. */
  readonly code: string

  constructor(...problems: [Problem, ...Problem[]]) {
    super(problems[0].message)
    this.name = 'Refusal'
    this.problems = problems
    this.code = problems[0].code
  }
}

export const { problem, refusal } = codesOf(engineCodes)

/** Refusal for temporary overload, with the time after which to retry. */
export const busy = (message = 'The service is busy. Try again.') =>
  refusal('BUSY', message, undefined, { retryAfter: 1 })

/** Refusal of a client whose credentials are missing, or wrong at `path`. */
export const unauthenticated = (
  message = 'Send an API key in the header X-Api-Key.',
  ...path: string[]
): Refusal => refusal('UNAUTHENTICATED', message, path.length > 0 ? path : undefined)

/** Refusal for problems, of which there is one at least. */
export const refusalOf = (problems: Problem[]): Refusal =>
  new Refusal(...(problems as [Problem, ...Problem[]]))

/** Throws one `Refusal` with all problems, if there are any. */
export function refuseIf(problems: Problem[]): void {
  if (problems.length > 0) throw refusalOf(problems)
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

/** Lists an error and its causes, the nearest first. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause
}

/** Finds the code of an error, or of the nearest of its causes that has one: PostgreSQL's, the network's or a
 *  service's. Log this and never Drizzle's message, which contains parameters. */
export function errorCode(error: unknown): string | undefined {
  for (const cause of causesOf(error))
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  return undefined
}
