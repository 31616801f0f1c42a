import { demoShow } from '../../domain/catalogue/demo/catalogue.ts'
import { randomFrom } from '../../domain/catalogue/demo/random.ts'
import { type Face, loadDemoFonts } from '../../domain/delivery/load-fonts.ts'
import { features, layOut, runsOf } from '../../domain/delivery/set-text.ts'
import { area, box, canvas } from './shapes.ts'
import { styleOf } from './styles.ts'

const margin = 40
const width = canvas.width - 2 * margin
const lineHeight = 1.08

type Faces = { heavy: Face[]; plain: Face[] }

/** Outlines of a line of text from a point of its baseline. Posters look the same wherever they are shown,
 *  because they need no font there. */
function outlineOf(text: string, faces: Face[], size: number, left: number, baseline: number): string {
  let x = left
  let path = ''
  for (const { face, text: part } of runsOf(text, faces)) {
    const { glyphs, positions } = face.font.layout(part, features)
    const scale = size / face.font.unitsPerEm
    for (const [index, glyph] of glyphs.entries()) {
      path += glyph.path.scale(scale, -scale).translate(x, baseline).toSVG()
      x += (positions[index]?.xAdvance ?? 0) * scale
    }
  }
  return path
}

const largest: [number, ...number[]] = [104, 92, 82, 72, 64, 56, 48, 42, 36]

// Sizes at which no word of a name has to break.
function sizesOf(name: string, faces: Face[]): [number, ...number[]] {
  const fits = (size: number) =>
    name
      .split(' ')
      .every((word) => layOut(word, { faces, sizes: [size], maxLines: 1 }, width).lines[0] === word)
  const [size = 36, ...smaller] = largest.filter(fits)
  return [size, ...smaller]
}

// Lines from the bottom up: where, with whom, and the name above both. `top` is where they begin.
function letters(n: number, { heavy, plain }: Faces, ink: string): { markup: string; top: number } {
  const { show, venue, city } = demoShow(n)
  const [name = '', rest = ''] = show.name.split(/\s?:\s/, 2)
  const paths: string[] = []
  let bottom = canvas.height - margin
  const set = (text: string, faces: Face[], sizes: [number, ...number[]], maxLines: number, gap: number) => {
    const { size, lines } = layOut(text, { faces, sizes, maxLines }, width)
    for (const line of lines.reverse()) {
      paths.push(outlineOf(line, faces, size, margin, bottom - size * 0.22))
      bottom -= size * lineHeight
    }
    bottom -= gap
  }
  set([venue, city].filter((part) => !name.includes(part)).join(' · '), plain, [25, 22, 19], 1, 4)
  set(show.artists.join(' · '), plain, [25, 22, 19], 2, 16)
  if (rest) set(rest, heavy, [38, 34, 30, 26], 2, 4)
  set(name, heavy, sizesOf(name, heavy), 2, 0)
  return { markup: area(paths.join(''), ink), top: bottom }
}

let fonts: Promise<Faces> | undefined

async function load(): Promise<Faces> {
  const [heavy = [], plain = []] = await loadDemoFonts(900, 600)
  return { heavy, plain }
}

/** Draws the poster of the nth event of the demo, from 0, as SVG. The same event has the same poster. */
export async function drawPoster(n: number): Promise<string> {
  fonts ??= load().catch((error) => {
    // A failed read is retried on the next call.
    fonts = undefined
    throw error
  })
  const { show } = demoShow(n)
  const { art, palettes } = styleOf(show.genres)
  const random = randomFrom(n + 1_000)
  const palette = random.pick(palettes)
  const { width, height } = canvas
  const ground = box(0, 0, width, height, palette.ground)
  const { markup, top } = letters(n, await fonts, palette.ink)
  // The drawing ends where the letters begin.
  const tall = Math.round(Math.min(510, top - 14))
  const drawing = `<svg width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}">${art(random, palette)}</svg>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${ground}${drawing}${markup}</svg>`
}
