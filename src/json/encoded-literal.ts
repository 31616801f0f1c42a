/** JSON that is written many times: its bytes, eight at a time. As numbers, because nothing else is stored as fast at
 *  any address, and no bytes of UTF-8 read as one that has no bytes of its own, NaN. */
export type Literal = { length: number; words: Float64Array; bytes: Uint8Array }

export const wordLength = Float64Array.BYTES_PER_ELEMENT

/** A text that is JSON, or a part of it, made ready to be written. */
export function toLiteral(text: string): Literal {
  const bytes = Buffer.from(text)
  const { length } = bytes
  const padded = new DataView(new ArrayBuffer(Math.ceil(length / wordLength) * wordLength))
  for (const [at, byte] of bytes.entries()) padded.setUint8(at, byte)
  const words = new Float64Array(padded.byteLength / wordLength)
  return { length, bytes, words: words.map((_, index) => padded.getFloat64(index * wordLength, true)) }
}
