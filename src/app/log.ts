import { writeSync } from 'node:fs'
import { causesOf, errorCode } from '../engine/base/errors.ts'
import { instruments } from '../engine/base/instruments.ts'
import type { Config } from './settings.ts'

/** Formatters of all loggers: levels are words. */
export const logFormatters = { level: (level: string) => ({ level }) }

// Characters that may wait for a reader.
const maxWaiting = 1_000_000
// A full pipe takes 64 kB, so that this is the pace of a reader who reads.
const againMs = 5

const lineBreak = 10
const linesIn = (bytes: Buffer) => bytes.reduce((lines, byte) => lines + (byte === lineBreak ? 1 : 0), 0)

type Log = {
  write(line: string): void
  /** Writes what waits without waiting for a reader, such as at the end of the process. */
  flush(): void
}

/** Writes lines to a file descriptor, those of a turn of the event loop together. Never waits and never throws: lines that
 *  can't be written, because the disk is full, the pipe is closed or nobody reads it, are dropped and counted. A pipe must
 *  not block, which Node sees to for those of the process. */
function openLines(fd: number): Log {
  let waiting = ''
  // Bytes of lines that a pipe had no room for.
  let rest = Buffer.alloc(0)
  let lastByte = lineBreak
  let isScheduled = false

  const drop = (lines: number) => instruments.observer?.onLogDropped(lines)
  function flush(): void {
    isScheduled = false
    if (waiting === '' && rest.length === 0) return
    // After a line whose end was dropped.
    const isTorn = rest.length === 0 && lastByte !== lineBreak
    const added = Buffer.from(isTorn ? `\n${waiting}` : waiting)
    const bytes = added.length > 0 ? Buffer.concat([rest, added]) : rest
    waiting = ''
    rest = Buffer.alloc(0)
    let done = 0
    try {
      while (done < bytes.length) done += writeSync(fd, bytes, done)
    } catch (error) {
      const left = bytes.subarray(done)
      if (errorCode(error) === 'EAGAIN') {
        rest = left
        isScheduled = true
        setTimeout(flush, againMs).unref()
      } else drop(linesIn(left) - (isTorn && done === 0 ? 1 : 0))
    }
    lastByte = bytes[done - 1] ?? lastByte
  }
  return {
    write(line) {
      if (rest.length === 0 && waiting.length > maxWaiting) flush()
      if (rest.length + waiting.length > maxWaiting) return drop(1)
      waiting += line
      if (!isScheduled) setImmediate(flush)
      isScheduled = true
    },
    flush,
  }
}

/** Opens the log of a process on a file descriptor: text for a person on a terminal, else JSON. `LOG_FORMAT` decides
 *  otherwise. */
export async function openLog(format: Config['logFormat'], { fd, isTTY }: { fd: number; isTTY?: boolean }) {
  const lines = openLines(fd)
  if ((format ?? (isTTY ? 'pretty' : 'json')) === 'json') return lines
  const { prettyFactory } = await import('pino-pretty')
  const toText = prettyFactory({
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    messageFormat: '{msg}{if route} {method} {route} {status} in {ms} ms{end}',
    ignore: 'method,route,status,ms,trace_id',
  })
  return { ...lines, write: (line: string) => lines.write(toText(line)) }
}

/** Describes an error to an operator. Never a stack, nor Drizzle's own message, which contains the statement
 *  and its parameters. */
export function describeError(error: unknown): string {
  const message = [...causesOf(error)].at(-1)?.message ?? String(error)
  const code = errorCode(error)
  return code ? `The database refused: ${message.includes(code) ? message : `${message} (${code})`}` : message
}
