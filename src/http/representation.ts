import { createHash } from 'node:crypto'
import { type Coding, encode } from './content-coding.ts'

/** An answer as it is sent where nothing more is done to it. */
export type Answer = {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** Whether somebody else who sees the same may have it: it is a whole answer, and tells nothing of its request. */
  isShareable: boolean
}

/** An answer in each of the codings that it is asked for in. */
export type Representation = Answer & {
  /** Strong, and another for each coding, which is another sequence of bytes (RFC 9110, 8.8.3). */
  etag(coding: Coding): string
  /** The body in a coding: compressed once, for everybody who asks meanwhile and after. */
  encoded(coding: Coding): Promise<Buffer> | Buffer
  /** How many bytes it holds, in all codings. */
  size(): number
}

class Body implements Representation {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
  readonly isShareable: boolean
  readonly #onGrown: () => void
  #hash: string | undefined
  #size: number
  #bodies: Map<Coding, Promise<Buffer>> | undefined

  constructor({ status, headers, body, isShareable }: Answer, onGrown: () => void) {
    this.status = status
    this.headers = headers
    this.body = body
    this.isShareable = isShareable
    this.#size = body.length
    this.#onGrown = onGrown
  }

  etag(coding: Coding): string {
    this.#hash ??= createHash('sha256').update(this.body).digest('base64url')
    return coding === 'identity' ? `"${this.#hash}"` : `"${this.#hash}-${coding}"`
  }

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

  size(): number {
    return this.#size
  }
}

const nobody = () => {}

/** `onGrown` is told when there is another coding. */
export const toRepresentation = (answer: Answer, onGrown: () => void = nobody): Representation =>
  new Body(answer, onGrown)
