import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { create, type Font } from 'fontkit'
import { unpackFont } from './unpack-font.ts'

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

// fontkit caches the code points of a glyph on first use. If that use is as a part of another glyph, as u is
// of ú, no document has that letter in its text layer from then on. Naming all glyphs first avoids this.
function nameGlyphs(font: Font): void {
  for (const codePoint of font.characterSet) font.glyphForCodePoint(codePoint)
}

async function open(name: string, file: string): Promise<Face> {
  const font = create(await unpackFont(await readFile(resolve(file))))
  if (font.type !== 'TTF') throw new Error(`${file} is not one font`)
  if (file !== fileOf.unifont) nameGlyphs(font)
  return { name, font }
}

// Sequential, so that requests are not held up.
async function openAll(weight: number): Promise<Face[]> {
  const faces: Face[] = []
  for (const script of scripts) faces.push(await open(`${script}-${weight}`, fileOf.noto(script, weight)))
  return faces
}

async function load(): Promise<Fonts> {
  const [regular, bold, fallback] = [
    await openAll(400),
    await openAll(700),
    await open('unifont', fileOf.unifont),
  ]
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
