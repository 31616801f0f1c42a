import type { Code, CodeWithoutFacts, FactsByCode } from './problem-codes.ts'
import { requestLimits } from './request-limits.ts'

/** Rows that a problem is about, for clients that read their current state beside it. */
export type Subject = { ticketRateId?: string; ticketId?: string; paymentId?: string }

// `path` locates the invalid input, with camelCase field names.
type Reason = { message: string; path?: (string | number)[]; about?: Subject }

/** Reason of a refusal with one of these codes, and its facts. */
export type ProblemWith<Codes extends keyof FactsByCode> = {
  [C in Codes]: Reason & { code: C; facts: FactsByCode[C] }
}[Codes]

/** Reason of a refusal. */
export type Problem =
  | (Reason & { code: CodeWithoutFacts; facts?: undefined })
  | ProblemWith<keyof FactsByCode>

type FactsOf<C extends Code> = C extends keyof FactsByCode ? [facts: FactsByCode[C]] : []

// Ties the facts to the code: codes with facts require them.
type Reasoned<C extends Code> = [code: C, message: string, path?: Reason['path'], ...facts: FactsOf<C>]

/** Creates a problem. Codes with facts require them. */
export const problem = <C extends Code>(...[code, message, path, facts]: Reasoned<C>): Problem =>
  ({ code, message, path, facts }) as Problem

/** Returns the seconds after which to retry; undefined if retrying does not help. */
export const retryAfterOf = ({ facts }: Problem): number | undefined =>
  facts && 'retryAfter' in facts ? facts.retryAfter : undefined

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

/** Creates a refusal for one reason. Codes with facts require them. */
export const refusal = <C extends Code>(...reason: Reasoned<C>): Refusal => new Refusal(problem(...reason))

/** Refusal for temporary overload, with the time after which to retry. */
export const busy = (message = 'The service is busy. Try again.') =>
  refusal('BUSY', message, undefined, { retryAfter: 1 })

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
