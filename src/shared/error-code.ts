/** Finds the code of an error, or of the nearest of its causes that has one: PostgreSQL's, the network's or a
 *  service's. Log this and never Drizzle's message, which contains parameters. */
export function errorCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  return undefined
}
