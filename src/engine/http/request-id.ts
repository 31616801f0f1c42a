import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

// Accepts the UUIDs, ULIDs and hexadecimal numbers that proxies and clients send, and nothing that could be an
// address or part of a header, because it goes to the log and back to the client.
const requestId = /^[A-Za-z0-9][A-Za-z0-9._-]{7,127}$/
const partOfKey = /box_/i

const textOf = (value: string | string[] | undefined) => (typeof value === 'string' ? value : '')

/** Returns the identifier that the caller gave a request in `X-Request-Id`, if it is well formed: 8 to 128
 *  letters, digits, dots, hyphens and underscores, and no API key. Otherwise generates one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = textOf(headers['x-request-id'])
  return requestId.test(given) && !partOfKey.test(given) ? given : randomUUID()
}

/** Trace that a request belongs to, the span of the caller if it sent one, and the request's own if traces are
 *  on. */
export type Trace = { trace_id: string; parent_id?: string; span_id?: string }

// Version 00 has four fields; later ones may have more (W3C Trace Context, 3.2). Zeros are no identifiers.
const traceparent =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.{1,256})?$/

// Node draws the random bits of many UUIDs at once, so this takes a microsecond.
const newTraceId = () => randomUUID().replaceAll('-', '')

/** Returns the trace of a request: the caller's by `traceparent` (W3C Trace Context), or a new one. */
export function traceOf(headers: IncomingHttpHeaders): Trace {
  const [, version, traceId, spanId, more] = traceparent.exec(textOf(headers.traceparent)) ?? []
  if (traceId === undefined || (version === '00' && more !== undefined)) return { trace_id: newTraceId() }
  return { trace_id: traceId, parent_id: spanId }
}
