import { beam, bubbles, halftone, strings } from './quiet-art.ts'
import { grooves, rings, sea, sunburst, tiles } from './round-art.ts'
import type { Art, Palette } from './shapes.ts'

type Style = { art: Art; palettes: readonly [Palette, ...Palette[]] }

const palette = (ground: string, ink: string, ...colors: Palette['colors']): Palette => ({
  ground,
  ink,
  colors,
})

const styles = {
  latin: {
    art: sunburst,
    palettes: [
      palette('#f4c542', '#5a1230', '#e8562a', '#c22f5b', '#fbe6a2'),
      palette('#ee6c4d', '#2b0f2e', '#f7b32b', '#8c1c4a', '#ffe3b8'),
      palette('#2a9d8f', '#fff6dc', '#f4d35e', '#1b6a78', '#ee964b'),
    ],
  },
  electronic: {
    art: rings,
    palettes: [
      palette('#0b0d17', '#e9f7ff', '#35e0d0', '#ff3d81', '#f5f749'),
      palette('#120a24', '#f3e9ff', '#9d4edd', '#4cc9f0', '#f72585'),
      palette('#101512', '#ecffe9', '#7bf1a8', '#2ec4b6', '#f1faee'),
    ],
  },
  jazz: {
    art: tiles,
    palettes: [
      palette('#f2ead8', '#16233f', '#1f4e9c', '#e4572e', '#f3a712'),
      palette('#16233f', '#f7efdc', '#e4572e', '#f3a712', '#5fa8d3'),
      palette('#e9e3d5', '#2d1e2f', '#a83f6f', '#2f6690', '#eeb902'),
    ],
  },
  soul: {
    art: grooves,
    palettes: [
      palette('#f0a35e', '#34140f', '#34140f', '#c8442b', '#ffe2b0'),
      palette('#7a1f3d', '#ffe9d6', '#1d0a14', '#f0803c', '#ffd29d'),
      palette('#d9b8c4', '#2a1430', '#2a1430', '#7d4f9e', '#fff1de'),
    ],
  },
  folk: {
    art: sea,
    palettes: [
      palette('#14213d', '#fdf3dc', '#f6d186', '#3d5a80', '#1d3557'),
      palette('#3c2a4d', '#fcecd9', '#f7a072', '#7a4e7e', '#5b3b66'),
      palette('#0f3d3e', '#f6f2e4', '#e2c391', '#2c7873', '#1b5e5a'),
    ],
  },
  comedy: {
    art: bubbles,
    palettes: [
      palette('#ffd23f', '#1f1a38', '#ee4266', '#3bceac', '#fff8e1'),
      palette('#ff8fa3', '#2b1630', '#fff0f3', '#5e60ce', '#ffd60a'),
    ],
  },
  rock: {
    art: halftone,
    palettes: [
      palette('#e63946', '#fff7ef', '#1d1a26', '#fff7ef', '#1d1a26'),
      palette('#f6f1e7', '#171717', '#171717', '#2364aa', '#171717'),
      palette('#3a2e8c', '#fdf0ff', '#f9c22e', '#fdf0ff', '#f9c22e'),
    ],
  },
  film: {
    art: beam,
    palettes: [
      palette('#1b1f3b', '#fdf6e3', '#ffe8a3', '#53599a', '#e07a5f'),
      palette('#22162b', '#fff4e6', '#ffd9a0', '#6d4c7d', '#81b29a'),
    ],
  },
  classical: {
    art: strings,
    palettes: [
      palette('#efe6d8', '#3a1d1d', '#8c2f39', '#b08968', '#3a1d1d'),
      palette('#1f2a37', '#f3eee3', '#d4b483', '#7f9aa8', '#f3eee3'),
      palette('#dfe7ea', '#1d2b3a', '#2f6690', '#c98b6b', '#1d2b3a'),
    ],
  },
} satisfies Record<string, Style>

type StyleName = keyof typeof styles

// First match of a show's genres decides.
const styleOfGenre: Record<string, StyleName> = {
  cumbia: 'latin',
  latin: 'latin',
  samba: 'latin',
  swing: 'latin',
  techno: 'electronic',
  house: 'electronic',
  ambient: 'electronic',
  jazz: 'jazz',
  brass: 'jazz',
  soul: 'soul',
  chanson: 'soul',
  folk: 'folk',
  oud: 'folk',
  comedy: 'comedy',
  indie: 'rock',
  rock: 'rock',
  film: 'film',
  classical: 'classical',
  choral: 'classical',
}

/** Chooses the style of a show by its genres. */
export function styleOf(genres: readonly string[]): Style {
  const name = genres.map((genre) => styleOfGenre[genre]).find((name) => name !== undefined)
  return styles[name ?? 'jazz']
}
