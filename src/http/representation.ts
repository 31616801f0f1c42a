import { createHash } from 'node:crypto'
import { type Coding, encode } from './content-coding.ts'

/** An HTTP response before content coding. */
export type Answer = {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** True if other callers with the same view may receive it: it is complete, and contains nothing specific
   *  to its request. */
  isShareable: boolean
  /** Content of a weak ETag, for a body of which some parts do not matter to a client that has it already.
   *  Without it the ETag is strong: a hash of the whole body. */
  weakTag?: string
}

/** A response with its body in every content coding requested so far. */
export class Representation implements Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
  readonly isShareable: boolean
  readonly weakTag: string | undefined
  readonly #onGrown: () => void
  #hash: string | undefined
  #size: number
  #bodies: Map<Coding, Promise<Buffer>> | undefined

  constructor({ status, headers, body, isShareable, weakTag }: Answer, onGrown: () => void) {
    this.status = status
    this.headers = headers
    this.body = body
    this.isShareable = isShareable
    this.weakTag = weakTag
    this.#size = body.length
    this.#onGrown = onGrown
  }

  /** ETag. A strong one differs per coding, because the bytes differ (RFC 9110, 8.8.3). */
  etag(coding: Coding): string {
    if (this.weakTag !== undefined) return `W/"${this.weakTag}"`
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

  async #encode(coding: Coding): Promise<Buffer> {
    const bytes = await encode(this.body, coding)
    this.#size += bytes.length
    this.#onGrown()
    return bytes
  }

  /** Bytes held, in all codings. */
  size(): number {
    return this.#size
  }
}

const ignore = () => {}

/** Wraps a response. `onGrown` is called whenever another coding adds to its size. */
export const toRepresentation = (answer: Answer, onGrown: () => void = ignore): Representation =>
  new Representation(answer, onGrown)
