import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { create, type Font } from 'fontkit'

/** A font and the name that documents register it under. */
export type Face = { name: string; font: Font }
/** Fonts of each weight, in the order in which a character is looked up. */
export type Fonts = { regular: Face[]; bold: Face[] }

// Noto Sans comes in one file per script. Unifont, a bitmap font with every character of the basic plane, is
// the fallback.
const scripts = [
  ...['latin', 'latin-ext', 'vietnamese', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'devanagari'],
]
const fileOf = {
  noto: (script: string, weight: number) =>
    `@fontsource/noto-sans/files/noto-sans-${script}-${weight}-normal.woff`,
  unifont: '@fontsource/unifont/files/unifont-latin-400-normal.woff',
}

const { resolve } = createRequire(import.meta.url)

const inflated = promisify(inflate)

const headerBytes = { woff: 44, sfnt: 12 }
const entryBytes = { woff: 20, sfnt: 16 }
const aligned = (length: number) => Math.ceil(length / 4) * 4

/** Unpacks a WOFF 1.0 font into TrueType. Drawing with a WOFF font inflates its tables again for each
 *  document, which takes seconds for a large one. */
async function unpackFont(woff: Buffer): Promise<Buffer> {
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

async function open(name: string, file: string): Promise<Face> {
  const font = create(await unpackFont(await readFile(resolve(file))))
  if (font.type !== 'TTF') throw new Error(`${file} is not one font`)
  // fontkit caches the code points of a glyph on first use. If that use is as a part of another glyph, as u is
  // of ú, no document has that letter in its text layer from then on. Naming all glyphs first avoids this.
  if (file !== fileOf.unifont) for (const codePoint of font.characterSet) font.glyphForCodePoint(codePoint)
  return { name, font }
}

// Sequential, so that requests are not held up.
async function openAll(weight: number): Promise<Face[]> {
  const faces: Face[] = []
  for (const script of scripts) faces.push(await open(`${script}-${weight}`, fileOf.noto(script, weight)))
  return faces
}

async function load(): Promise<Fonts> {
  const regular = await openAll(400)
  const bold = await openAll(700)
  const fallback = await open('unifont', fileOf.unifont)
  return { regular: [...regular, fallback], bold: [...bold, fallback] }
}

/** Loads the Latin fonts of these weights, 100 to 900, each with the fallback behind them. */
export async function loadLatinFonts(...weights: number[]): Promise<Face[][]> {
  const fallback = await open('unifont', fileOf.unifont)
  const families: Face[][] = []
  for (const weight of weights) {
    const latin = await open(`latin-${weight}`, fileOf.noto('latin', weight))
    families.push([latin, await open(`latin-ext-${weight}`, fileOf.noto('latin-ext', weight)), fallback])
  }
  return families
}

let loaded: Promise<Fonts> | undefined

/** Loads the fonts of tickets once, on first use. */
export function loadFonts(): Promise<Fonts> {
  loaded ??= load().catch((error) => {
    // A failed read is retried on the next call.
    loaded = undefined
    throw error
  })
  return loaded
}
