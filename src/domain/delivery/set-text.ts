import bidiFactory from 'bidi-js'
import type { Face } from './load-fonts.ts'

/** Style of a text. Each character uses the first font that has it. The text is set at the largest size
 *  (points) that needs no more than `maxLines`, else truncated at the smallest. */
export type Style = { faces: Face[]; sizes: [number, ...number[]]; color: string; maxLines: number }
type Run = { face: Face; text: string }
type Direction = 'ltr' | 'rtl'

const lineHeight = 1.3
const ellipsis = '…'

// Invisible characters, for which a font that has all characters draws a box. Joiners shape the letters around them
// in scripts that join.
const invisible =
  /(?<![\p{sc=Arab}\p{sc=Deva}])[\u200c\u200d]|(?![\u200c\u200d])\p{Cf}|\p{Variation_Selector}/gu
// Emoji are left out: no font here has those beyond the basic plane.
const emoji = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}/u
// Characters other than letters stay in the run before them if its font has them.
const letter = /\p{L}/u

/** Normalizes a text for setting: composed, on one line, without invisible characters. */
export const normalizeText = (text: string): string =>
  text
    .normalize('NFC')
    .replace(invisible, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()

// Keeps composed letters whole. Decomposed, they look the same but copy with each accent twice.
export const fontFeatures = { ccmp: false }

// The types of this package treat the module itself as its default export.
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)()
// Blocks of scripts that are written from right to left.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Direction of a text: that of its first letter. */
const directionOf = (text: string): Direction =>
  rightToLeft.test(text) && bidi.getEmbeddingLevels(text).paragraphs[0]?.level === 1 ? 'rtl' : 'ltr'

/** Splits a line into runs of one font and one direction each, in the order in which they are seen from left to right
 *  (Unicode Bidirectional Algorithm). The font reverses a run of letters that are written from right to left. */
export function splitIntoRuns(line: string, faces: Face[], direction: Direction = directionOf(line)): Run[] {
  const embedding = rightToLeft.test(line) ? bidi.getEmbeddingLevels(line, direction) : null
  const runs: (Run & { level: number; place: number })[] = []
  const seen = embedding && bidi.getReorderedIndices(line, embedding)
  const has = (face: Face | undefined, character: string) =>
    face?.font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
  let index = 0
  for (const symbol of line) {
    const start = index
    index += symbol.length
    const level = embedding?.levels[start] ?? 0
    const shown = (level % 2 === 1 && bidi.getMirroredCharacter(symbol)) || symbol
    const isAvailable = faces.some((face) => has(face, shown))
    if (!isAvailable && emoji.test(shown)) continue
    const character = isAvailable ? shown : '\ufffd'
    const last = runs.at(-1)
    const continues = !letter.test(character) && has(last?.face, character)
    const face = continues ? last?.face : faces.find((face) => has(face, character))
    if (last && face === last.face && level === last.level) last.text += character
    else if (face) runs.push({ face, text: character, level, place: seen?.indexOf(start) ?? start })
  }
  for (const run of embedding ? runs : []) {
    const isReversed = run.face.font.layout(run.text, fontFeatures).direction === 'rtl'
    if (isReversed !== (run.level % 2 === 1)) run.text = [...run.text].reverse().join('')
  }
  return runs.sort((one, other) => one.place - other.place)
}

const advanceOf = ({ face, text }: Run, size: number) =>
  (face.font.layout(text, fontFeatures).advanceWidth / face.font.unitsPerEm) * size

const widthOf = (text: string, faces: Face[], size: number) =>
  splitIntoRuns(text, faces).reduce((width, run) => width + advanceOf(run, size), 0)

// A line may break after a space, a hyphen or an ideograph. A word longer than a line breaks anywhere.
function breakLines(text: string, faces: Face[], size: number, width: number): string[] {
  if (text === '') return []
  if (widthOf(text, faces, size) <= width) return [text]
  const lines: { text: string; width: number }[] = []
  const add = (part: string) => {
    const last = lines.at(-1)
    const visible = widthOf(part.trimEnd(), faces, size)
    const whole = part.endsWith(' ') ? widthOf(part, faces, size) : visible
    if (last && last.width + visible <= width) {
      last.text += part
      last.width += whole
    } else if (visible <= width || [...part].length === 1) lines.push({ text: part, width: whole })
    else for (const character of part) add(character)
  }
  for (const part of text.split(/(?<=[\s-])|(?<=\p{Ideographic})/u)) add(part)
  return lines.map(({ text }) => text.trimEnd())
}

function truncate(lines: string[], maxLines: number, fits: (text: string) => boolean): string[] {
  const characters = [...(lines[maxLines - 1] ?? '')]
  while (characters.length > 0 && !fits(characters.join('') + ellipsis)) characters.pop()
  return [...lines.slice(0, maxLines - 1), characters.join('').trimEnd() + ellipsis]
}

/** Breaks a text into lines of at most `width` points at the largest size that fits. */
export function fitLines(text: string, { faces, sizes, maxLines }: Omit<Style, 'color'>, width: number) {
  const clean = normalizeText(text)
  const direction = directionOf(clean)
  let [size] = sizes
  let lines: string[] = []
  for (size of sizes) {
    lines = breakLines(clean, faces, size, width)
    if (lines.length <= maxLines) return { size, lines, direction }
  }
  lines = truncate(lines, maxLines, (text) => widthOf(text, faces, size) <= width)
  return { size, lines, direction }
}

/** Lays out a text in a box of this width. Returns its height in points, and a function that draws it from
 *  the top left corner of the box down, centred or from the side where the text begins. */
export function layOutText(text: string, style: Style, width: number, align: 'start' | 'center' = 'start') {
  const { size, lines, direction } = fitLines(text, style, width)
  const height = lines.length * size * lineHeight
  const set = (doc: PDFKit.PDFDocument, x: number, y: number) => {
    for (const [index, line] of lines.entries()) {
      const runs = splitIntoRuns(line, style.faces, direction).map((run) => ({
        ...run,
        width: advanceOf(run, size),
      }))
      const total = runs.reduce((sum, run) => sum + run.width, 0)
      const room = align === 'center' ? (width - total) / 2 : direction === 'rtl' ? width - total : 0
      let left = x + room
      // A common baseline for fonts of different heights.
      const baseline = y + (index + 1) * size * lineHeight - size * 0.35
      for (const run of runs) {
        doc.font(run.face.name).fontSize(size).fillColor(style.color)
        doc.text(run.text, left, baseline, {
          lineBreak: false,
          baseline: 'alphabetic',
          // The type declares a list of features only, not the object that turns them off.
          features: fontFeatures as never,
        })
        left += run.width
      }
    }
  }
  return { height, set }
}
