import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { create, type Font } from 'fontkit'
import { makeOnce } from '../../engine/base/make-once.ts'

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

// Lengths in bytes of the header of a font, and of an entry for each of its tables.
const woffBytes = { header: 44, entry: 20 }
const sfntBytes = { header: 12, entry: 16 }

/** Unpacks a WOFF 1.0 font into TrueType. Drawing with a WOFF font inflates its tables again for each
 *  document, which takes seconds for a large one. */
async function unpackFont(woff: Buffer): Promise<Buffer> {
  const count = woff.readUInt16BE(12)
  const head = Buffer.alloc(sfntBytes.header + count * sfntBytes.entry)
  woff.copy(head, 0, 4, 8)
  // The three search fields after the count stay 0, because no reader here uses them.
  head.writeUInt16BE(count, 4)
  const parts: Buffer[] = [head]
  let size = head.length
  for (let index = 0; index < count; index++) {
    const entry = woff.subarray(woffBytes.header + index * woffBytes.entry)
    const offset = entry.readUInt32BE(4)
    const packed = woff.subarray(offset, offset + entry.readUInt32BE(8))
    const length = entry.readUInt32BE(12)
    const unpackedEntry = head.subarray(sfntBytes.header + index * sfntBytes.entry)
    // Its tag, and its checksum.
    entry.copy(unpackedEntry, 0, 0, 4)
    entry.copy(unpackedEntry, 4, 16, 20)
    unpackedEntry.writeUInt32BE(size, 8)
    unpackedEntry.writeUInt32BE(length, 12)
    const padding = Buffer.alloc(-length & 3)
    parts.push(packed.length < length ? await inflated(packed) : packed, padding)
    size += length + padding.length
  }
  return Buffer.concat(parts)
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

/** Loads the fonts of tickets once, on first use. */
export const loadFonts = makeOnce(async (): Promise<Fonts> => {
  const fallback = await open('unifont', unifont)
  // Sequential, so that requests are not held up.
  const openAll = async (weight: 400 | 700) => {
    const faces: Face[] = []
    for (const script of scripts) faces.push(await open(`${script}-${weight}`, fileOf(script, weight)))
    return [...faces, fallback]
  }
  return { regular: await openAll(400), bold: await openAll(700) }
})
