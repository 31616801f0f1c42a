import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { create, type Font } from 'fontkit'
import { unpackFont } from './unpack-font.ts'

/** A font under the name that a document knows it by. */
export type Face = { name: string; font: Font }
/** For each weight the fonts to look for a character in, in their order. */
export type Fonts = { regular: Face[]; bold: Face[] }

// Noto Sans comes in a file for each of these. Unifont is of pixels and has every character of the basic plane: what it
// shows is plain, and right.
const scripts = [
  ...['latin', 'latin-ext', 'vietnamese', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'devanagari'],
]
const fileOf = {
  noto: (script: string, weight: number) =>
    `@fontsource/noto-sans/files/noto-sans-${script}-${weight}-normal.woff`,
  unifont: '@fontsource/unifont/files/unifont-latin-400-normal.woff',
}

const { resolve } = createRequire(import.meta.url)

// A font remembers what a glyph stands for from the first time that it is asked for it: were that as a part of another,
// as u is of ú, no document would have that letter in its text from then on.
function nameGlyphs(font: Font): void {
  for (const codePoint of font.characterSet) font.glyphForCodePoint(codePoint)
}

async function open(name: string, file: string): Promise<Face> {
  const font = create(await unpackFont(await readFile(resolve(file))))
  if (font.type !== 'TTF') throw new Error(`${file} is not one font`)
  if (file !== fileOf.unifont) nameGlyphs(font)
  return { name, font }
}

// One after another, so that nobody waits long for the processor.
async function openAll(weight: number): Promise<Face[]> {
  const faces: Face[] = []
  for (const script of scripts) faces.push(await open(`${script}-${weight}`, fileOf.noto(script, weight)))
  return faces
}

async function load(): Promise<Fonts> {
  const [regular, bold, last] = [
    await openAll(400),
    await openAll(700),
    await open('unifont', fileOf.unifont),
  ]
  return { regular: [...regular, last], bold: [...bold, last] }
}

let loaded: Promise<Fonts> | undefined

/** The fonts that tickets are set in, which one document after another uses: read when first needed. */
export function loadFonts(): Promise<Fonts> {
  loaded ??= load().catch((error) => {
    // What could not be read may be there the next time.
    loaded = undefined
    throw error
  })
  return loaded
}
