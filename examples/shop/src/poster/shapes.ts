import type { Random } from '../demo/random.ts'

// SVG elements of posters. Numbers are rounded to a tenth of a unit.

/** Dimensions of a poster in units of its own. */
export const canvas = { width: 600, height: 800 }

/** Colours of a poster: the ground, the letters on it, and those of the drawing. */
export type Palette = { ground: string; ink: string; colors: readonly [string, string, string] }

/** Draws on a canvas of 600 by 800, and leaves the lower 300 to the letters. Returns SVG elements. */
export type Art = (random: Random, palette: Palette) => string

const round = (value: number) => Math.round(value * 10) / 10

/** Joins coordinates for an attribute. */
export const points = (...values: number[]): string => values.map(round).join(' ')

/** Whole numbers from 0, as many as given. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** Element with attributes; numbers are rounded. */
export const shape = (name: string, attributes: Record<string, string | number>, inside = ''): string => {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : value}"`,
  )
  return `<${name}${written.join('')}${inside === '' ? '/>' : `>${inside}</${name}>`}`
}

/** Filled circle. */
export const disc = (cx: number, cy: number, r: number, fill: string): string =>
  shape('circle', { cx, cy, r, fill })

/** Filled rectangle. */
export const box = (x: number, y: number, width: number, height: number, fill: string): string =>
  shape('rect', { x, y, width, height, fill })

/** Filled path. */
export const area = (d: string, fill: string): string => shape('path', { d, fill })

/** Line of a path without a filling. */
export const line = (d: string, stroke: string, width: number): string =>
  shape('path', { d, fill: 'none', stroke, 'stroke-width': width })

/** Path through points of a function of x, from the left edge to the right one. */
export const curve = (y: (x: number) => number, step = 20): string =>
  upTo(canvas.width / step + 1)
    .map((n) => `${n === 0 ? 'M' : 'L'}${points(n * step, y(n * step))}`)
    .join('')
