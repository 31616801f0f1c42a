const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }

/** Response headers, by name. */
export const headers = {
  'X-Request-Id': {
    description: 'Identifier of the request, which the logs name. Error bodies repeat it as `request_id`.',
    schema: text,
    example: 'f3a1c5de-0b7a-4c52-9d0e-6f1f0c9f5a27',
  },
  'X-RateLimit-Limit': {
    description: 'Number of requests per second that the credentials may make. Absent without a limit.',
    schema: count,
    example: 1000,
  },
  'X-RateLimit-Remaining': {
    description: 'Number of requests left in this second. Absent without a limit.',
    schema: count,
    example: 999,
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until the count starts anew. Absent without a limit.',
    schema: count,
    example: 1,
  },
  'Retry-After': { description: 'Number of seconds after which to retry.', schema: count, example: 1 },
  ETag: {
    description: 'Tag of these bytes. Send it as `If-None-Match` to receive them only if they have changed.',
    schema: text,
    example: '"u3MB0Jb2gV6cQq0Nn0K3m2a1d3l4m5n6o7p8q9r0s1t"',
  },
  'Cache-Control': {
    description: 'The client may keep the response for itself, and asks each time whether it still holds.',
    schema: text,
    example: 'private, no-cache',
  },
  Link: {
    description: 'Addresses of the next and the previous page (RFC 8288), as far as there are any.',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: '`true` if an earlier request with this `Idempotency-Key` has made what is returned.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
} as const

export type HeaderName = keyof typeof headers

/** Headers of every response to a request that could be read. */
export const usualHeaders: HeaderName[] = [
  'X-Request-Id',
  ...(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const),
]

const componentOf = (name: string) => name.replaceAll('-', '')

/** Components of the headers. */
export const headerComponents: Record<string, object> = Object.fromEntries(
  Object.entries(headers).map(([name, header]) => [componentOf(name), header]),
)

/** Refers to headers of a response. */
export const refersToHeaders = (names: readonly HeaderName[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${componentOf(name)}` }]))
