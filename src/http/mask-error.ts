import { databaseCode, isUnavailable } from '../database/database.ts'
import { busy, Refusal } from '../shared/errors.ts'

export type Log = { error(facts: Record<string, unknown>, message: string): void }

// Where in our own files it happened. Nothing else of a stack, and nothing of a message: Drizzle's holds parameters.
const placeOf = (error: Error) =>
  /\((?:file:\/\/)?\S*?((?:src|dist)\/[\w./-]+:\d+):\d+\)/.exec(error.stack ?? '')?.[1]

/** The kind and place of an error that a library logs by itself, in the fields that it has for one. */
export const serializeError = (error: Error) => ({
  type: error.name,
  message: databaseCode(error) ?? '',
  stack: placeOf(error) ?? '',
})

/** Logs what nobody was meant to see, by its kind and place alone (DECISIONS 6). */
export function logFailure(log: Log, error: unknown, message: string): void {
  const facts =
    error instanceof Error
      ? { error: error.name, code: databaseCode(error), place: placeOf(error) }
      : { error: typeof error }
  log.error(facts, message)
}

/** What a client may know of anything that was thrown. What is not a Refusal is logged and masked; the client is told
 *  the request id that the log line has too. */
export function toRefusal(error: unknown, requestId: string, log: Log): Refusal {
  if (error instanceof Refusal) return error
  logFailure(log, error, 'request failed')
  return isUnavailable(error)
    ? busy()
    : new Refusal({ code: 'INTERNAL', message: `Something went wrong on our side. Request id: ${requestId}` })
}
