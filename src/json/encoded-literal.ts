// Slow form: Buffer.from(text), copied into the writer's buffer

/** JSON text that is written many times, as words of eight bytes. The words are floats, which are the fastest
 *  to store at any offset. No UTF-8 reads as NaN, the one float whose bytes might not survive. */
export type Literal = { length: number; words: Float64Array; bytes: Uint8Array }

export const wordLength = Float64Array.BYTES_PER_ELEMENT

/** Encodes JSON text, or a fragment of it, for JsonWriter.raw. */
export function toLiteral(text: string): Literal {
  const bytes = Buffer.from(text)
  const { length } = bytes
  const padded = new DataView(new ArrayBuffer(Math.ceil(length / wordLength) * wordLength))
  for (const [at, byte] of bytes.entries()) padded.setUint8(at, byte)
  const words = new Float64Array(padded.byteLength / wordLength)
  return { length, bytes, words: words.map((_, index) => padded.getFloat64(index * wordLength, true)) }
}
