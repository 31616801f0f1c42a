import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { create, type Font } from 'fontkit'

// Letters as outlines: a poster looks the same wherever it is shown, because it needs no font there.

const { resolve } = createRequire(import.meta.url)
const styleNames = { 600: '600SemiBold', 900: '900Black' }

// Fonts in the order in which a character is looked up.
async function loadFonts(weight: 600 | 900): Promise<Font[]> {
  const [noto, style] = ['@fontsource/noto-sans/files/noto-sans', styleNames[weight]]
  const files = [
    `${noto}-latin-${weight}-normal.woff2`,
    `${noto}-latin-ext-${weight}-normal.woff2`,
    `@expo-google-fonts/noto-sans-jp/${style}/NotoSansJP_${style}.ttf`,
  ]
  return Promise.all(files.map(async (file) => create(await readFile(resolve(file))) as Font))
}

let loaded: Promise<{ heavy: Font[]; plain: Font[] }> | undefined

/** Loads the fonts of posters, once. */
export function loadPosterFonts(): Promise<{ heavy: Font[]; plain: Font[] }> {
  loaded ??= Promise.all([loadFonts(900), loadFonts(600)])
    .then(([heavy, plain]) => ({ heavy, plain }))
    .catch((error) => {
      // A failed read is tried again by the next call.
      loaded = undefined
      throw error
    })
  return loaded
}

/** Splits a line into runs of one font each. Spaces and signs stay in the font of what is before them. */
function runsOf(line: string, fonts: Font[]): { font: Font; text: string }[] {
  const runs: { font: Font; text: string }[] = []
  for (const character of line) {
    const has = (font: Font | undefined) => font?.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
    const last = runs.at(-1)
    const font = !/\p{L}/u.test(character) && has(last?.font) ? last?.font : fonts.find(has)
    if (last && font === last.font) last.text += character
    else if (font) runs.push({ font, text: character })
  }
  return runs
}

/** Width of a line of text. */
const widthOf = (line: string, fonts: Font[], size: number): number =>
  runsOf(line, fonts).reduce(
    (width, { font, text }) => width + (font.layout(text).advanceWidth / font.unitsPerEm) * size,
    0,
  )

/** Outlines of a line of text from a point of its baseline, as the path of an SVG. */
export function outlineOf(line: string, fonts: Font[], size: number, left: number, baseline: number): string {
  let x = left
  let path = ''
  for (const { font, text } of runsOf(line, fonts)) {
    const { glyphs, positions } = font.layout(text)
    const scale = size / font.unitsPerEm
    for (const [index, glyph] of glyphs.entries()) {
      path += glyph.path.scale(scale, -scale).translate(x, baseline).toSVG()
      x += (positions[index]?.xAdvance ?? 0) * scale
    }
  }
  return path
}

// A line breaks after a space, a hyphen or an ideograph.
function linesOf(text: string, fonts: Font[], size: number, width: number): string[] {
  const lines: string[] = []
  for (const part of text.split(/(?<=[\s-])|(?<=\p{Ideographic})/u)) {
    const longer = (lines.at(-1) ?? '') + part
    if (lines.length > 0 && widthOf(longer.trimEnd(), fonts, size) <= width) lines[lines.length - 1] = longer
    else lines.push(part)
  }
  return lines.map((line) => line.trimEnd())
}

/** Breaks a text into lines at the largest size at which they are no more than `maxLines`, else at the last one. */
export function layOut(
  text: string,
  { fonts, sizes, maxLines, width }: { fonts: Font[]; sizes: number[]; maxLines: number; width: number },
): { size: number; lines: string[] } {
  const layouts = sizes.map((size) => ({ size, lines: linesOf(text, fonts, size, width) }))
  const found = layouts.find(({ lines }) => lines.length <= maxLines) ?? layouts.at(-1)
  if (!found) throw new Error('a text needs a size')
  return found
}

/** Reports whether no word of a text is wider than a line. */
export const wordsFit = (text: string, fonts: Font[], size: number, width: number): boolean =>
  text.split(' ').every((word) => widthOf(word, fonts, size) <= width)
