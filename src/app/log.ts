import type { Config } from '../config/config.ts'

/** Formatters of all loggers: levels are words. */
export const logFormatters = { level: (level: string) => ({ level }) }

/** Opens the destination of log lines: text for a person on a terminal, else JSON on standard output, which
 *  is pino's own (undefined). `LOG_FORMAT` decides otherwise. */
export async function openLog(
  format: Config['logFormat'],
  isTerminal: boolean,
): Promise<NodeJS.WritableStream | undefined> {
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
