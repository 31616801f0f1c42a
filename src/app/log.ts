import type { Config } from '../config/config.ts'
import { causesOf, errorCode } from '../shared/errors.ts'

/** Formatters of all loggers: levels are words. */
export const logFormatters = { level: (level: string) => ({ level }) }

/** Opens the destination of log lines: text for a person on a terminal, else JSON on standard output, which
 *  is pino's own (undefined). `LOG_FORMAT` decides otherwise. */
export async function openLog(format: Config['logFormat'], isTerminal: boolean) {
  if ((format ?? (isTerminal ? 'pretty' : 'json')) === 'json') return undefined
  const { default: pretty } = await import('pino-pretty')
  // Synchronous, so that the last lines of a process are not lost.
  return pretty({
    sync: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    messageFormat: '{msg}{if route} {method} {route} {status} in {ms} ms{end}',
    ignore: 'method,route,status,ms,trace_id',
  })
}

/** Describes an error to an operator. Never a stack, nor Drizzle's own message, which contains the statement
 *  and its parameters. */
export function describeError(error: unknown): string {
  const message = [...causesOf(error)].at(-1)?.message ?? String(error)
  const code = errorCode(error)
  return code ? `The database refused: ${message.includes(code) ? message : `${message} (${code})`}` : message
}
