import { isUnavailable } from '../database/database.ts'
import { busy, errorCode, Refusal } from '../shared/errors.ts'

export type Log = { error(facts: Record<string, unknown>, message: string): void }

// Place in our own files. The rest of the stack and the message are not logged: Drizzle's has parameters.
const placeOf = (error: Error) =>
  /\((?:file:\/\/)?\S*?((?:src|dist)\/[\w./-]+:\d+):\d+\)/.exec(error.stack ?? '')?.[1]

/** Serializes an error that Fastify logs by itself: kind, code and place, in pino's fields. */
export const serializeError = (error: Error) => ({
  type: error.name,
  message: errorCode(error) ?? '',
  stack: placeOf(error) ?? '',
})

/** Logs an unexpected error by kind, code and place only (DECISIONS 6). */
export function logFailure(log: Log, error: unknown, message: string): void {
  const facts =
    error instanceof Error
      ? { error: error.name, code: errorCode(error), place: placeOf(error) }
      : { error: typeof error }
  log.error(facts, message)
}

/** Converts anything thrown into a Refusal for the client. Anything but a Refusal is logged and masked; the
 *  client gets the request id, which the log line contains too. */
export function toRefusal(error: unknown, requestId: string, log: Log): Refusal {
  if (error instanceof Refusal) return error
  logFailure(log, error, 'request failed')
  return isUnavailable(error)
    ? busy()
    : new Refusal({ code: 'INTERNAL', message: `Something went wrong on our side. Request id: ${requestId}` })
}
