import { readAcceptHeader } from '../base/accept-header.ts'

// Media types of GraphQL responses, by preference if a client accepts both equally.
const ofGraphql = ['application/json', 'application/graphql-response+json'] as const

export type MediaType = (typeof ofGraphql)[number]

// Responses are always UTF-8, so a range with another charset never matches.
const rangesOf = (accept: string) => readAcceptHeader(accept).filter(({ charset }) => charset === 'utf-8')

type Ranges = ReturnType<typeof rangesOf>

// The most specific range decides (RFC 9110, 12.5.1).
function rankOf(mediaType: string, ranges: Ranges) {
  for (const type of [mediaType, mediaType.replace(/\/.*/, '/*'), '*/*']) {
    const place = ranges.findIndex(({ name }) => name === type)
    const found = ranges[place]
    if (found) return { quality: found.quality, place }
  }
  return { quality: 0, place: 0 }
}

/** Chooses among media types by an `Accept` header: the first one without a header, and of those with the same quality the
 *  one that the header names first. Null if none is acceptable. */
export function preferredType<Type extends string>(
  accept: string | undefined,
  types: readonly [Type, ...Type[]],
): Type | null {
  if (!accept || accept === '*/*' || accept === types[0]) return types[0]
  const ranges = rangesOf(accept)
  const [best] = types
    .map((type) => ({ type, ...rankOf(type, ranges) }))
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality || one.place - other.place)
  return best?.type ?? null
}

/** Chooses the media type of a GraphQL response; null if none is acceptable. Event streams are chosen where they are sent
 *  (see `acceptsEventStream`), multipart is not offered: every other response is one JSON text. */
export const chooseMediaType = (accept: string | undefined): MediaType | null =>
  preferredType(accept, ofGraphql)

/** Reports whether a client names event streams among what it accepts. A client that accepts anything expects
 *  one answer, and would wait for the end of a stream. */
export const acceptsEventStream = (accept = ''): boolean =>
  /text\//i.test(accept) &&
  rankOf(
    'text/event-stream',
    rangesOf(accept).filter(({ name }) => name !== '*/*'),
  ).quality > 0

/** Reports whether a client prefers a page to every answer of GraphQL. */
export const prefersPage = (accept = ''): boolean =>
  /html/i.test(accept) &&
  preferredType(accept, [...ofGraphql, 'text/event-stream', 'text/html']) === 'text/html'
