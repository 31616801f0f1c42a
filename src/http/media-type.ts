import { readAcceptHeader } from '../shared/accept-header.ts'

// Media types of GraphQL responses, by preference if a client accepts both equally.
const offered = ['application/json', 'application/graphql-response+json'] as const

export type MediaType = (typeof offered)[number]

// Responses are always UTF-8, so a range with another charset never matches.
const rangesOf = (accept: string | undefined) =>
  readAcceptHeader(accept).filter(({ parameterOf }) => (parameterOf('charset') ?? 'utf-8') === 'utf-8')

// The most specific range decides (RFC 9110, 12.5.1).
function rankOf(mediaType: MediaType, ranges: ReturnType<typeof rangesOf>) {
  for (const type of [mediaType, 'application/*', '*/*']) {
    const place = ranges.findIndex(({ name }) => name === type)
    const found = ranges[place]
    if (found) return { quality: found.quality, place }
  }
  return { quality: 0, place: 0 }
}

/** Reports whether a client names event streams among what it accepts. A client that accepts anything expects
 *  one answer, and would wait for the end of a stream. */
export const acceptsEventStream = (accept = ''): boolean =>
  /text\//i.test(accept) &&
  rangesOf(accept).some(
    ({ name, quality }) => quality > 0 && (name === 'text/event-stream' || name === 'text/*'),
  )

/** Chooses the media type of a GraphQL response by the `Accept` header; the first named one if both have the
 *  same quality. Null if none is acceptable. Event streams are chosen where they are sent (see
 *  `acceptsEventStream`), multipart is not offered: every other response is one JSON text. */
export function chooseMediaType(accept: string | undefined): MediaType | null {
  if (!accept || accept === '*/*' || accept === offered[0]) return offered[0]
  const ranges = rangesOf(accept)
  const [best] = offered
    .map((mediaType) => ({ mediaType, ...rankOf(mediaType, ranges) }))
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality || one.place - other.place)
  return best?.mediaType ?? null
}

/** Chooses among media types by an `Accept` header; the first one if it prefers none. Types are compared
 *  whole, so that a range such as `text/*` prefers nothing. */
export function preferredType<Type extends string>(
  accept: string | undefined,
  types: readonly [Type, ...Type[]],
): Type {
  const ranges = rangesOf(accept)
  const qualityOf = (type: string) => ranges.find(({ name }) => name === type)?.quality ?? 0
  const [first, ...others] = types
  const best = others.toSorted((one, other) => qualityOf(other) - qualityOf(one))[0] ?? first
  return qualityOf(best) > Math.max(qualityOf(first), qualityOf('*/*')) ? best : first
}
