import { beforeAll, expect, test } from 'vitest'
import { type Face, loadFonts } from '../../src/domain/delivery/load-fonts.ts'
import { fitLines, fontFeatures, splitIntoRuns } from '../../src/domain/delivery/set-text.ts'

// Lines as they are seen from left to right, glyph by glyph.

let faces: Face[]
beforeAll(async () => {
  faces = (await loadFonts()).regular
}, 120_000)

/** Characters of a line in the order in which they are seen, each as the letter that its glyph stands for. */
const seen = (line: string) =>
  splitIntoRuns(line, faces)
    .flatMap(({ face, text }) => face.font.layout(text, fontFeatures).glyphs)
    .flatMap(({ codePoints }) => codePoints)
    .map((codePoint) => String.fromCodePoint(codePoint))
    .join('')

test.each([
  ['Ana Núñez', 'Ana Núñez'],
  ['שלום (עולם) 12', '12 (םלוע) םולש'],
  ['שלום John 12 עולם', 'םלוע John 12 םולש'],
  ['Ana and שלום עולם!', 'Ana and םלוע םולש!'],
  ['محمد ٢٠٢٧', '٢٠٢٧ دمحم'],
  // Extended digits are of the Arabic script, and still read from left to right.
  ['شب ۱۴۰۶', '۱۴۰۶ بش'],
])('%s is seen as %s', (line, expected) => {
  expect(seen(line)).toBe(expected)
})

test('Arabic letters are joined, but not past a non-joiner', () => {
  const formsOf = (line: string) =>
    splitIntoRuns(line, faces).flatMap(({ face, text }) =>
      face.font.layout(text, fontFeatures).glyphs.filter(({ codePoints }) => codePoints[0] !== 0x200c),
    )
  const ids = (line: string) => formsOf(line).map(({ id }) => id)
  expect(new Set(ids('ببب')).size).toBe(3)
  expect(new Set(ids('ب ب ب').filter((id) => ids('ب').includes(id))).size).toBe(1)
  expect(ids('ب\u200cب').filter((id) => ids('ب').includes(id))).toHaveLength(2)
})

test('a text is aligned to the side where it begins', () => {
  const style = { faces, sizes: [10] as [number], maxLines: 2 }
  const directionOf = (text: string) => fitLines(text, style, 300).direction
  expect(['Ana שלום', 'שלום Ana', '12 محمد', '2027'].map(directionOf)).toEqual(['ltr', 'rtl', 'rtl', 'ltr'])
})
