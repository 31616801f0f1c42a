import { errorCode } from '../shared/errors.ts'

/** Describes an error to an operator. Never a stack, nor Drizzle's own message, which contains the statement
 *  and its parameters. */
export function describeError(error: unknown): string {
  let rootCause = error
  while (rootCause instanceof Error && rootCause.cause) rootCause = rootCause.cause
  const message = rootCause instanceof Error ? rootCause.message : String(rootCause)
  const code = errorCode(error)
  return code ? `The database refused: ${message.includes(code) ? message : `${message} (${code})`}` : message
}
