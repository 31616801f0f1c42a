import type { Face } from './load-fonts.ts'

type Document = PDFKit.PDFDocument

/** How a text is set: in the first of the fonts that has the character, at the largest of the sizes (points) at which
 *  it takes no more lines than `most`, else cut off at the smallest. */
export type Style = { faces: Face[]; sizes: [number, ...number[]]; color: string; most?: number }
type Run = { face: Face; text: string }

const lineHeight = 1.3
const ellipsis = '…'

// They are seen by what they do to their neighbours, and a font that draws all characters draws a box for them.
const unseen = /\p{Cf}|\p{Variation_Selector}/gu
// No font here has pictures of more than the basic plane, and nobody misses them in a name.
const picture = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}/u
// What is no letter belongs to the one before it.
const letter = /\p{L}/u

/** A text as it can be set: composed, on one line, without what is not to be seen. */
export const settable = (text: string): string =>
  text
    .normalize('NFC')
    .replace(unseen, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()

function runsOf(text: string, faces: Face[]): Run[] {
  const runs: Run[] = []
  const has = (face: Face | undefined, character: string) =>
    face?.font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
  for (const given of text) {
    const isThere = faces.some((face) => has(face, given))
    if (!isThere && picture.test(given)) continue
    const character = isThere ? given : '\ufffd'
    const last = runs.at(-1)
    const goesOn = !letter.test(character) && has(last?.face, character)
    const face = goesOn ? last?.face : faces.find((face) => has(face, character))
    if (last && face === last.face) last.text += character
    else if (face) runs.push({ face, text: character })
  }
  return runs
}

// Composed letters stay whole. Taken to pieces they look the same, and read with each accent twice.
const features = { ccmp: false }

const advanceOf = ({ face, text }: Run, size: number) =>
  (face.font.layout(text, features).advanceWidth / face.font.unitsPerEm) * size

const widthOf = (text: string, faces: Face[], size: number) =>
  runsOf(text, faces).reduce((width, run) => width + advanceOf(run, size), 0)

// A line may end behind a space or a hyphen, and behind any ideograph. A word that is longer than a line ends anywhere.
const partsOf = (text: string) => text.split(/(?<=[\s-])|(?<=\p{Ideographic})/u)

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
  for (const part of partsOf(text)) add(part)
  return lines.map(({ text }) => text.trimEnd())
}

function cutOff(lines: string[], most: number, fits: (text: string) => boolean): string[] {
  const characters = [...(lines[most - 1] ?? '')]
  while (characters.length > 0 && !fits(characters.join('') + ellipsis)) characters.pop()
  return [...lines.slice(0, most - 1), characters.join('').trimEnd() + ellipsis]
}

type Laid = { size: number; lines: string[] }

function layOut(text: string, { faces, sizes, most = Number.POSITIVE_INFINITY }: Style, width: number): Laid {
  const clean = settable(text)
  const tried = sizes.map((size) => ({ size, lines: breakLines(clean, faces, size, width) }))
  const good = tried.find(({ lines }) => lines.length <= most)
  if (good) return good
  const { size, lines } = tried.at(-1) ?? { size: sizes[0], lines: [] }
  return { size, lines: cutOff(lines, most, (text) => widthOf(text, faces, size) <= width) }
}

/** A text that is to be set: how high it is, in points, and what sets it from the top left corner of a box downwards,
 *  or around the middle of the box. */
export function laidText(text: string, style: Style, width: number, align: 'left' | 'center' = 'left') {
  const { size, lines } = layOut(text, style, width)
  const height = lines.length * size * lineHeight
  const set = (doc: Document, x: number, y: number) => {
    for (const [index, line] of lines.entries()) {
      const runs = runsOf(line, style.faces).map((run) => ({ ...run, width: advanceOf(run, size) }))
      const total = runs.reduce((sum, run) => sum + run.width, 0)
      let left = align === 'center' ? x + (width - total) / 2 : x
      // Fonts of several heights stand on one line.
      const baseline = y + (index + 1) * size * lineHeight - size * 0.35
      for (const run of runs) {
        doc.font(run.face.name).fontSize(size).fillColor(style.color)
        doc.text(run.text, left, baseline, {
          lineBreak: false,
          baseline: 'alphabetic',
          // Its types know the list of features alone, not the object that turns them off.
          features: features as never,
        })
        left += run.width
      }
    }
  }
  return { height, set }
}
