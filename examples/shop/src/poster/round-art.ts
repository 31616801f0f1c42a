import { type Art, area, box, canvas, curve, disc, line, points, shape, upTo } from './shapes.ts'

const { width, height } = canvas
const full = 2 * Math.PI

/** Sun with rays above waves, for music to dance to. */
export const sunburst: Art = (random, { colors: [warm, deep, light] }) => {
  const [x, y] = [300 + random.between(-90, 90), 270]
  const count = random.pick([16, 20, 24])
  const at = (turn: number, far: number) =>
    points(x + Math.cos(turn * full) * far, y + Math.sin(turn * full) * far)
  const start = random.between(0, 100) / 1000
  const rays = upTo(count).map((n) => {
    const turn = n / count + start
    return area(`M${points(x, y)}L${at(turn, 1000)}L${at(turn + 0.5 / count, 1000)}Z`, warm)
  })
  const radius = random.between(118, 150)
  const sun = [disc(x, y, radius + 34, light), disc(x, y, radius, deep), disc(x, y, radius * 0.62, warm)]
  const waves = upTo(3).map((n) => {
    const phase = random.between(0, 60) / 10
    const top = 440 + n * 34
    const edge = curve((at) => top + Math.sin(at / 62 + phase) * (18 - n * 3), 12)
    return area(`${edge}V${height}H0Z`, [light, deep, warm][n] ?? warm)
  })
  return [...rays, ...sun, ...waves].join('')
}

/** Interfering rings, for electronic music. */
export const rings: Art = (random, { colors }) => {
  const [first, second, third] = colors
  const gap = random.pick([11, 13, 15])
  const set = (cx: number, cy: number, stroke: string, count: number) =>
    upTo(count)
      .map((n) => shape('circle', { cx, cy, r: gap * (n + 1) }))
      .join('')
      .replace(/^/, `<g fill="none" stroke="${stroke}" stroke-width="${gap * 0.34}">`)
      .concat('</g>')
  const spread = random.between(70, 130)
  const [x, y] = [300 + random.between(-60, 60), 250 + random.between(-30, 30)]
  const bar = random.between(0, 1) === 1
  return [
    set(x - spread, y, first, 26),
    set(x + spread, y + random.between(-50, 50), second, 26),
    bar ? box(0, y - 7, width, 14, third) : disc(x, y, 44, third),
  ].join('')
}

/** Quarter circles on a grid, after the covers of jazz records. */
export const tiles: Art = (random, { ground, ink, colors }) => {
  const size = 120
  const fills = [...colors, ink] as const
  const tile = (column: number, row: number): string => {
    const [x, y] = [column * size, row * size]
    const fill = random.pick(fills)
    const other = random.pick(colors)
    const kind = random.between(0, 5)
    const turned = (inside: string) =>
      shape(
        'g',
        { transform: `rotate(${random.between(0, 3) * 90} ${x + size / 2} ${y + size / 2})` },
        inside,
      )
    const quarter = (r: number, color: string) => area(`M${x} ${y}h${r}a${r} ${r} 0 0 1 ${-r} ${r}z`, color)
    if (kind === 0) return box(x, y, size, size, fill)
    if (kind === 1) return box(x, y, size, size, other) + disc(x + size / 2, y + size / 2, size * 0.32, fill)
    if (kind === 2) return turned(quarter(size, fill) + quarter(size * 0.55, ground))
    if (kind === 3) return turned(box(x, y, size, size, other) + quarter(size, fill))
    if (kind === 4) return turned(area(`M${x} ${y}h${size}l${-size} ${size}z`, fill))
    return upTo(4)
      .map((n) => box(x, y + n * (size / 4), size, size / 8, fill))
      .join('')
  }
  return upTo(4)
    .flatMap((row) => upTo(5).map((column) => tile(column, row)))
    .join('')
}

/** Record with its grooves, for soul and song. */
export const grooves: Art = (random, { ground, colors: [dark, warm, light] }) => {
  const [x, y] = [random.pick([180, 300, 430]), random.between(220, 280)]
  const radius = random.between(250, 290)
  const lines = upTo(22).map((n) =>
    shape('circle', {
      cx: x,
      cy: y,
      r: radius * 0.42 + n * (radius * 0.025),
      fill: 'none',
      stroke: light,
      'stroke-opacity': n % 4 === 0 ? 0.34 : 0.14,
      'stroke-width': 1.4,
    }),
  )
  const shine = (turn: number) => {
    const at = (angle: number, far: number) => points(x + Math.cos(angle) * far, y + Math.sin(angle) * far)
    const [from, to] = [turn, turn + 0.32]
    return shape('path', {
      d: `M${points(x, y)}L${at(from, radius * 0.97)}A${points(radius, radius)} 0 0 1 ${at(to, radius * 0.97)}Z`,
      fill: light,
      'fill-opacity': 0.13,
    })
  }
  const angle = random.between(0, 31) / 10
  const stripes = upTo(5).map((n) => box(0, 470 + n * 13, width, 9 - n * 1.6, n % 2 === 0 ? warm : light))
  return [
    ...stripes,
    disc(x, y, radius, dark),
    ...lines,
    shine(angle),
    shine(angle + Math.PI),
    disc(x, y, radius * 0.36, warm),
    disc(x, y, radius * 0.3, light),
    disc(x, y, radius * 0.22, warm),
    disc(x, y, 9, ground),
  ].join('')
}

/** Moon above the sea, for songs at night. */
export const sea: Art = (random, { colors: [light, mid, low] }) => {
  const x = random.between(160, 440)
  const stars = upTo(46).map(() =>
    shape('circle', {
      cx: random.between(0, width),
      cy: random.between(0, 400),
      r: random.between(6, 22) / 10,
      fill: light,
      'fill-opacity': random.between(3, 9) / 10,
    }),
  )
  const halo = upTo(3).map((n) =>
    shape('circle', { cx: x, cy: 230, r: 190 - n * 34, fill: light, 'fill-opacity': 0.07 }),
  )
  const hills = curve((at) => 385 - Math.abs(Math.sin(at / 140 + x / 60)) * 70 - Math.sin(at / 40) * 6, 10)
  const glints = upTo(9).map((n) => {
    const half = 16 + n * 9 + random.between(0, 14)
    const top = 402 + n * 12
    return line(`M${points(x - half, top)}H${points(x + half)}`, light, 3.4)
  })
  return [
    ...stars,
    ...halo,
    disc(x, 230, 92, light),
    area(`${hills}V400H0Z`, mid),
    box(0, 392, width, 408, low),
    ...glints,
  ].join('')
}
