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

/** `onGrown` is told when there is another coding. */
export function toRepresentation(answer: Answer, onGrown: () => void = () => {}): Representation {
  const { body } = answer
  let hash: string | undefined
  let size = body.length
  const bodies = new Map<Coding, Promise<Buffer>>()
  const start = async (coding: Coding) => {
    const bytes = await encode(body, coding)
    size += bytes.length
    onGrown()
    return bytes
  }
  return {
    ...answer,
    etag(coding) {
      hash ??= createHash('sha256').update(body).digest('base64url')
      return coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`
    },
    encoded(coding) {
      if (coding === 'identity') return body
      const bytes = bodies.get(coding) ?? start(coding)
      bodies.set(coding, bytes)
      return bytes
    },
    size: () => size,
  }
}
