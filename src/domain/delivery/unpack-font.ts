import { promisify } from 'node:util'
import { inflate } from 'node:zlib'

const inflated = promisify(inflate)

const headerBytes = { woff: 44, sfnt: 12 }
const entryBytes = { woff: 20, sfnt: 16 }
const aligned = (length: number) => Math.ceil(length / 4) * 4

/** Unpacks a WOFF 1.0 font into TrueType. Drawing with a WOFF font inflates its tables again for each
 *  document, which takes seconds for a large one. */
export async function unpackFont(woff: Buffer): Promise<Buffer> {
  const count = woff.readUInt16BE(12)
  const tables = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const entry = headerBytes.woff + index * entryBytes.woff
      const offset = woff.readUInt32BE(entry + 4)
      const packed = woff.subarray(offset, offset + woff.readUInt32BE(entry + 8))
      const length = woff.readUInt32BE(entry + 12)
      return {
        tag: woff.subarray(entry, entry + 4),
        checksum: woff.readUInt32BE(entry + 16),
        bytes: packed.length < length ? await inflated(packed) : packed,
      }
    }),
  )
  const bodyStart = headerBytes.sfnt + count * entryBytes.sfnt
  const size = tables.reduce((end, { bytes }) => end + aligned(bytes.length), bodyStart)
  const font = Buffer.alloc(size)
  woff.copy(font, 0, 4, 8)
  // The three search fields after the count stay 0, because no reader here uses them.
  font.writeUInt16BE(count, 4)
  let offset = bodyStart
  for (const [index, { tag, checksum, bytes }] of tables.entries()) {
    const entry = headerBytes.sfnt + index * entryBytes.sfnt
    tag.copy(font, entry)
    font.writeUInt32BE(checksum, entry + 4)
    font.writeUInt32BE(offset, entry + 8)
    font.writeUInt32BE(bytes.length, entry + 12)
    bytes.copy(font, offset)
    offset += aligned(bytes.length)
  }
  return font
}
