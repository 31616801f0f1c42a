// Media types of GraphQL responses, by preference if a client accepts both equally.
const offered = ['application/json', 'application/graphql-response+json'] as const

export type MediaType = (typeof offered)[number]

type Range = { type: string; quality: number }

// Responses are always UTF-8, so a range with another charset never matches.
function rangesOf(accept: string): Range[] {
  return accept
    .toLowerCase()
    .split(',')
    .flatMap((item) => {
      const [type = '', ...parameters] = item.split(';').map((part) => part.trim())
      const parameterOf = (name: string) =>
        parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1)
      const quality = Number(parameterOf('q') ?? 1)
      const charset = parameterOf('charset') ?? 'utf-8'
      return charset === 'utf-8' ? [{ type, quality: quality >= 0 && quality <= 1 ? quality : 0 }] : []
    })
}

// The most specific range decides (RFC 9110, 12.5.1).
function rankOf(mediaType: MediaType, ranges: Range[]): { quality: number; place: number } {
  for (const type of [mediaType, 'application/*', '*/*']) {
    const place = ranges.findIndex((range) => range.type === type)
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
    ({ type, quality }) => quality > 0 && (type === 'text/event-stream' || type === 'text/*'),
  )

/** Chooses the media type of a GraphQL response by the `Accept` header; the first named one if both have the
 *  same quality. Null if none is acceptable. Event streams are chosen where they are sent (see
 *  `acceptsEventStream`), multipart is not offered: every other response is one JSON text. */
export function chooseMediaType(accept: string | undefined): MediaType | null {
  if (!accept || accept === '*/*' || accept === offered[0]) return offered[0]
  const ranges = rangesOf(accept)
  const [json, response] = offered.map((mediaType) => ({ mediaType, ...rankOf(mediaType, ranges) }))
  if (!json || !response) return null
  const isResponse =
    response.quality > json.quality || (response.quality === json.quality && response.place < json.place)
  const best = isResponse ? response : json
  return best.quality > 0 ? best.mediaType : null
}

/** Chooses among media types by an `Accept` header; the first one if it prefers none. Types are compared
 *  whole, so that a range such as `text/*` prefers nothing. */
export function preferredType<Type extends string>(
  accept: string | undefined,
  [first, ...others]: readonly [Type, ...Type[]],
): Type {
  const ranges = rangesOf(accept ?? '')
  const qualityOf = (type: Type) => ranges.find((range) => range.type === type)?.quality ?? 0
  const rest = Math.max(0, ...ranges.filter(({ type }) => type === '*/*').map(({ quality }) => quality))
  return others.reduce<Type>((best, type) => {
    const bestQuality = best === first ? Math.max(qualityOf(first), rest) : qualityOf(best)
    return qualityOf(type) > bestQuality ? type : best
  }, first)
}
