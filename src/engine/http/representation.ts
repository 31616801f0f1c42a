import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readAcceptHeader } from '../base/accept-header.ts'
import { addVary } from './public-cors.ts'
import { noStore } from './security.ts'

/** Content codings that are offered. `identity` is uncompressed. */
type Coding = 'br' | 'gzip' | 'identity'

// By preference, if a client accepts both equally.
const codings = ['br', 'gzip'] as const

/** Chooses the content coding by the `Accept-Encoding` header (RFC 9110, 12.5.3); `identity` if the client
 *  prefers it or accepts no other. */
function chooseCoding(accepted: string | string[] | undefined): Coding {
  if (!accepted) return 'identity'
  const qualities = new Map(
    readAcceptHeader([accepted].flat().join()).map(({ name, quality }) => [name, quality]),
  )
  const others = qualities.get('*') ?? 0
  const quality = (coding: Coding) => qualities.get(coding) ?? others
  const best = codings.reduce((best, coding) => (quality(coding) > quality(best) ? coding : best))
  return quality(best) > 0 && quality(best) >= (qualities.get('identity') ?? 0) ? best : 'identity'
}

// Compress off the event loop: JSON to a tenth of its size, in milliseconds. For a page of events quality 4 takes 2 ms; the
// default of 11 takes 300 ms and saves a third of the bytes.
const compress = {
  gzip: promisify(gzip),
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
}

/** An HTTP response before content coding. */
export type Answer = {
  /** 200 if it is absent. */
  status?: number
  headers: Record<string, string>
  body: Buffer
  /** True if other callers with the same view may receive it: it is complete, and contains nothing specific
   *  to its request. */
  isShareable: boolean
  /** Content of a weak ETag, for a body of which some parts do not matter to a client that has it already.
   *  Without it the ETag is strong: a hash of the whole body. */
  weakTag?: string
}

// A small buffer is cut from a slab, and a compressed one from the buffer of its stream: a cache would hold all of that.
const alone = (bytes: Buffer): Buffer =>
  bytes.buffer.byteLength > bytes.length ? Buffer.from(new Uint8Array(bytes).buffer) : bytes

/** A response with its body in every content coding requested so far. `onGrown` is called whenever another coding adds to
 *  its size. */
export class Representation {
  readonly answer: Answer
  readonly #onGrown: () => void
  #hash: string | undefined
  #size: number
  #bodies: Map<Coding, Promise<Buffer>> | undefined

  constructor(answer: Answer, onGrown = () => {}) {
    this.answer = answer.isShareable ? { ...answer, body: alone(answer.body) } : answer
    this.#size = answer.body.length
    this.#onGrown = onGrown
  }

  get body(): Buffer {
    return this.answer.body
  }

  /** ETag. A strong one differs per coding, because the bytes differ (RFC 9110, 8.8.3). */
  etag(coding: Coding): string {
    const { weakTag } = this.answer
    if (weakTag !== undefined) return `W/"${weakTag}"`
    this.#hash ??= createHash('sha256').update(this.body).digest('base64url')
    return coding === 'identity' ? `"${this.#hash}"` : `"${this.#hash}-${coding}"`
  }

  /** Returns the body in a coding. Compresses it once and shares the result with all requests. */
  encoded(coding: Coding): Promise<Buffer> | Buffer {
    if (coding === 'identity') return this.body
    this.#bodies ??= new Map()
    const bytes = this.#bodies.get(coding) ?? this.#encode(coding)
    this.#bodies.set(coding, bytes)
    return bytes
  }

  async #encode(coding: keyof typeof compress): Promise<Buffer> {
    const bytes = alone(await compress[coding](this.body))
    this.#size += bytes.length
    this.#onGrown()
    return bytes
  }

  /** Bytes held, in all codings. */
  size(): number {
    return this.#size
  }
}

// Below this size the headers dominate a response, and compression gains nothing.
const minCompressedBytes = 1024

const opaqueOf = (tag: string) => tag.trim().replace(/^W\//, '')

// Weak comparison (RFC 9110, 13.1.2). Splitting at commas is safe, because our ETags contain none.
const matches = (tags: string | undefined, etag: string): boolean =>
  tags?.split(',').some((tag) => tag.trim() === '*' || opaqueOf(tag) === opaqueOf(etag)) ?? false

async function send(request: FastifyRequest, reply: FastifyReply, representation: Representation) {
  const { method, headers, credentials } = request
  const { isShareable, status = 200, headers: answered, body: bytes } = representation.answer
  if (!isShareable) return void reply.code(status).headers(answered).send(bytes)
  const isSmall = bytes.length < minCompressedBytes
  const coding = isSmall ? 'identity' : chooseCoding(headers['accept-encoding'])
  const { 'content-type': type = '', ...otherHeaders } = answered
  if (reply.getHeader('cache-control') === noStore) reply.header('cache-control', 'private, no-cache')
  // Headers that decide the response, besides the URL.
  addVary(reply, `${credentials.sentIn}, accept, accept-encoding`)
  reply.headers(otherHeaders)
  if (method !== 'POST') {
    const etag = representation.etag(coding)
    reply.header('etag', etag)
    // To HEAD Fastify adds a length of nothing, except to a stream.
    if (matches(headers['if-none-match'], etag))
      return void reply.code(304).send(method === 'HEAD' ? Readable.from([]) : undefined)
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
