import { busy, causesOf, errorCode, Refusal, refusal } from '../base/errors.ts'
import { isUnavailable } from '../database/database.ts'
import { isConnectionFailure } from '../database/pool/failures.ts'

export type Log = { error(facts: Record<string, unknown>, message: string): void }

// Place in our own files, not in a package's. The rest of the stack and the message are not logged: Drizzle's
// has parameters.
const placeOf = (error: Error) =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at ') && !line.includes('node_modules'))
    .map((line) => /[/(]((?:src|dist)\/[\w./-]+:\d+):\d+\)?$/.exec(line)?.[1])
    .find((place) => place !== undefined)

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

// Names that PostgreSQL reports with an error, as both drivers spell them. Never its message or detail, which
// quote values.
function databaseFactsOf(error: unknown) {
  for (const cause of causesOf(error)) {
    if (!('severity' in cause)) continue
    const { code, ...names }: Record<string, unknown> = { ...cause }
    return {
      sqlstate: textOf(code),
      table: textOf(names.table_name ?? names.table),
      constraint: textOf(names.constraint_name ?? names.constraint),
    }
  }
  return {}
}

/** Serializes an error that Fastify logs by itself: kind, code and place, in pino's fields. */
export const serializeError = (error: Error) => ({
  type: error.name,
  message: errorCode(error) ?? '',
  stack: placeOf(error) ?? '',
})

/** Logs an unexpected error by kind, code and place, and an error of the database by its SQLSTATE, table and
 *  constraint as well; nothing else of it (DECISIONS, errors). */
export function logFailure(log: Log, error: unknown, message: string, facts: { job?: string } = {}): void {
  const found =
    error instanceof Error
      ? { error: error.name, code: errorCode(error), place: placeOf(error), ...databaseFactsOf(error) }
      : { error: typeof error }
  log.error({ ...facts, ...found }, message)
}

/** Creates the check whether what failed has failed alike, with the same code, less than `everyMs` ago. */
export function repetitions(everyMs: number): (error: unknown, what: string) => boolean {
  const loggedAt = new Map<string, number>()
  return (error, what) => {
    const kind = `${what} ${errorCode(error) ?? (error instanceof Error ? error.name : '')}`
    const isSoon = performance.now() - (loggedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < everyMs
    if (!isSoon) loggedAt.set(kind, performance.now())
    return isSoon
  }
}

// A database that is away refuses each request alike: a line a second is enough to know.
const isRepeated = repetitions(1_000)

/** Converts anything thrown into a Refusal for the client. Anything but a Refusal is logged and masked; the
 *  client gets the request id, which the log line contains too. Failures of connections to the database are logged
 *  once a second. */
export function toRefusal(error: unknown, requestId: string, log: Log): Refusal {
  // A statement that is refused reports it as the cause of its own error.
  for (const cause of causesOf(error)) if (cause instanceof Refusal) return cause
  if (!isConnectionFailure(error) || !isRepeated(error, 'request')) logFailure(log, error, 'request failed')
  return isUnavailable(error)
    ? busy()
    : refusal('INTERNAL', `Something went wrong on our side. Request id: ${requestId}`)
}
