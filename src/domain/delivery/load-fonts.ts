import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { create, type Font } from 'fontkit'

/** A font and the name that documents register it under. */
export type Face = { name: string; font: Font }
/** Fonts of each weight, in the order in which a character is looked up. */
export type Fonts = { regular: Face[]; bold: Face[] }

// Noto Sans comes in one file per script, but for Japanese, which has the Han characters. Arabic is in Vazirmatn, which
// has each form of a letter as one glyph. Unifont, a bitmap font with every character of the basic plane, is the
// fallback.
const scripts = [
  ...['latin', 'latin-ext', 'vietnamese', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'devanagari'],
  ...['hebrew', 'arabic', 'japanese'],
]
const families: Record<string, string> = { hebrew: 'noto-sans-hebrew', arabic: 'vazirmatn' }
const unifont = '@fontsource/unifont/files/unifont-latin-400-normal.woff'

function fileOf(script: string, weight: 400 | 700): string {
  const style = weight === 400 ? '400Regular' : '700Bold'
  if (script === 'japanese') return `@expo-google-fonts/noto-sans-jp/${style}/NotoSansJP_${style}.ttf`
  const family = families[script] ?? 'noto-sans'
  return `@fontsource/${family}/files/${family}-${script}-${weight}-normal.woff`
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

/** Names a glyph by its character, and each form of an Arabic letter by the letter. */
function nameGlyph(font: Font, codePoint: number): void {
  const glyph = font.glyphForCodePoint(codePoint)
  const [letter, ...more] = String.fromCodePoint(codePoint).normalize('NFKC')
  const isForm = codePoint >= 0xfb50 && codePoint <= 0xfeff && letter && more.length === 0
  if (isForm) glyph.codePoints = [letter.codePointAt(0) ?? codePoint]
}

async function open(name: string, file: string): Promise<Face> {
  const bytes = await readFile(resolve(file))
  const font = create(file.endsWith('.woff') ? await unpackFont(bytes) : bytes)
  if (font.type !== 'TTF') throw new Error(`${file} is not one font`)
  // fontkit caches the code points of a glyph on first use. If that use is as a part of another glyph, as u is
  // of ú, no document has that letter in its text layer from then on. Naming all glyphs first avoids this. The large
  // fonts have no such glyphs.
  if (file.endsWith('.woff') && file !== unifont)
    for (const codePoint of font.characterSet) nameGlyph(font, codePoint)
  return { name, font }
}

// Sequential, so that requests are not held up.
async function openAll(weight: 400 | 700): Promise<Face[]> {
  const faces: Face[] = []
  for (const script of scripts) faces.push(await open(`${script}-${weight}`, fileOf(script, weight)))
  return faces
}

async function load(): Promise<Fonts> {
  const regular = await openAll(400)
  const bold = await openAll(700)
  const fallback = await open('unifont', unifont)
  return { regular: [...regular, fallback], bold: [...bold, fallback] }
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
