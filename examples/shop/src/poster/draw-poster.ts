import type { Font } from 'fontkit'
import { demoShow } from '../demo/catalogue.ts'
import { randomFrom } from '../demo/random.ts'
import { layOut, loadPosterFonts, outlineOf, wordsFit } from './letters.ts'
import { area, box, canvas } from './shapes.ts'
import { styleOf } from './styles.ts'

const margin = 40
const width = canvas.width - 2 * margin
const lineHeight = 1.08
const nameSizes = [104, 92, 82, 72, 64, 56, 48, 42, 36]

type Fonts = { heavy: Font[]; plain: Font[] }

// Lines from the bottom up: where, with whom, and the name above both. `top` is where they begin.
function letters(n: number, { heavy, plain }: Fonts, ink: string): { markup: string; top: number } {
  const { show, venue, city } = demoShow(n)
  const [name = '', rest = ''] = show.name.split(/\s?:\s/, 2)
  const paths: string[] = []
  let bottom = canvas.height - margin
  const set = (text: string, fonts: Font[], sizes: number[], maxLines: number, gap: number) => {
    const { size, lines } = layOut(text, { fonts, sizes, maxLines, width })
    for (const line of lines.reverse()) {
      paths.push(outlineOf(line, fonts, size, margin, bottom - size * 0.22))
      bottom -= size * lineHeight
    }
    bottom -= gap
  }
  set([venue, city].filter((part) => !name.includes(part)).join(' · '), plain, [25, 22, 19], 1, 4)
  set(show.artists.join(' · '), plain, [25, 22, 19], 2, 16)
  if (rest) set(rest, heavy, [38, 34, 30, 26], 2, 4)
  set(
    name,
    heavy,
    nameSizes.filter((size) => wordsFit(name, heavy, size, width)),
    2,
    0,
  )
  return { markup: area(paths.join(''), ink), top: bottom }
}

/** Draws the poster of the nth event of the demo, from 0, as SVG. The same event has the same poster. */
export async function drawPoster(n: number): Promise<string> {
  const { show } = demoShow(n)
  const { art, palettes } = styleOf(show.genres)
  const random = randomFrom(n + 1_000)
  const palette = random.pick(palettes)
  const { width, height } = canvas
  const ground = box(0, 0, width, height, palette.ground)
  const { markup, top } = letters(n, await loadPosterFonts(), palette.ink)
  // The drawing ends where the letters begin.
  const tall = Math.round(Math.min(510, top - 14))
  const drawing = `<svg width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}">${art(random, palette)}</svg>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${ground}${drawing}${markup}</svg>`
}
