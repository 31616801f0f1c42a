import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseCoding } from './content-coding.ts'
import type { Representation } from './representation.ts'

// Below this size the headers dominate a response, and compression gains nothing.
const minCompressedBytes = 1024

// Request headers that decide the response, besides the URL.
const varyHeaders = 'x-api-key, integration_id, secret, accept, accept-encoding'

const opaqueOf = (tag: string) => tag.trim().replace(/^W\//, '')

// Weak comparison (RFC 9110, 13.1.2). Splitting at commas is safe, because our ETags contain none.
const matches = (tags: string | undefined, etag: string): boolean =>
  tags?.split(',').some((tag) => tag.trim() === '*' || opaqueOf(tag) === opaqueOf(etag)) ?? false

async function send(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  representation: Representation,
): Promise<void> {
  const { isShareable, status } = representation
  if (!isShareable) return void reply.code(status).headers(representation.headers).send(representation.body)
  const isSmall = representation.body.length < minCompressedBytes
  const coding = isSmall ? 'identity' : chooseCoding(headers['accept-encoding'])
  const { 'content-type': type = '', ...otherHeaders } = representation.headers
  const vary = [reply.getHeader('vary'), varyHeaders].filter(Boolean).join(', ')
  const kept = reply.getHeader('cache-control') ?? 'private, no-cache'
  reply.headers({ vary, 'cache-control': kept, ...otherHeaders })
  if (method !== 'POST') {
    const etag = representation.etag(coding)
    reply.header('etag', etag)
    if (matches(headers['if-none-match'], etag)) return void reply.code(304).send()
  }
  const encoded = representation.encoded(coding)
  const body = Buffer.isBuffer(encoded) ? encoded : await encoded
  if (coding !== 'identity') reply.header('content-encoding', coding)
  reply.type(type).send(body)
}

/** Sends a response once it is available. A shareable one is compressed, which is safe because it contains
 *  nothing secret or personal. To a safe method it goes with an ETag, and as 304 if the client has it
 *  already. The client may store it but must revalidate: the response cache has used up the maximum age. */
export function sendRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  pending: Promise<Representation>,
): void {
  pending
    .then((representation) => send(request, reply, representation))
    .catch((error: unknown) => reply.send(error))
}
