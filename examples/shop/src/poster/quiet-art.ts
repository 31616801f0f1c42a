import { type Art, area, box, canvas, disc, line, points, shape, upTo } from './shapes.ts'

const { width } = canvas

/** Speech bubbles that overlap, for comedy. */
export const bubbles: Art = (random, { ink, colors }) => {
  const bubble = (x: number, y: number, wide: number, high: number, fill: string, left: boolean) => {
    const tail = left ? wide * 0.25 : wide * 0.75
    const d = `M${points(x + tail - 26, y + high - 4)}L${points(x + tail + (left ? -46 : 46), y + high + 58)}L${points(x + tail + 30, y + high - 4)}Z`
    return (
      area(d, fill) + shape('rect', { x, y, width: wide, height: high, rx: Math.min(high / 2, 70), fill })
    )
  }
  const turn = random.between(-6, 6)
  const laugh = (x: number, y: number) =>
    disc(x - 46, y - 14, 12, ink) +
    disc(x + 46, y - 14, 12, ink) +
    area(`M${points(x - 64, y + 16)}h128a64 62 0 0 1 -128 0z`, ink) +
    area(`M${points(x - 34, y + 62)}q34 -26 68 0q-34 34 -68 0z`, colors[0])
  const x = random.between(90, 150)
  const dots = upTo(3).map((n) => disc(x + 300 + n * 44, 128, 13, ink))
  const inside = [
    bubble(x + 210, 60, 220, 136, colors[1], false),
    ...dots,
    bubble(x - 50, 168, 330, 236, colors[2], true),
    laugh(x + 115, 270),
    bubble(x + 190, 352, 190, 86, colors[0], false),
    line(`M${points(x + 228, 395)}q14 -24 28 0t28 0t28 0t28 0`, colors[2], 9),
  ]
  return shape('g', { transform: `rotate(${turn} 300 280)` }, inside.join(''))
}

/** Dots that grow towards a point, for guitars. */
export const halftone: Art = (random, { colors: [first, second] }) => {
  const gap = random.pick([22, 25, 28])
  const [cx, cy] = [random.between(120, 480), random.between(120, 360)]
  const reach = random.between(330, 430)
  const dots: string[] = []
  for (let row = 0; row * gap < 520; row++)
    for (let column = 0; column * gap < width + gap; column++) {
      const [x, y] = [column * gap + (row % 2) * (gap / 2), row * gap]
      const near = 1 - Math.hypot(x - cx, y - cy) / reach
      const size = near * gap * 0.72 * Math.min(1, (520 - y) / 160)
      if (size > 1) dots.push(disc(x, y, size, first))
    }
  const ring = random.between(70, 110)
  const bolt = `M${points(cx + 18, cy - ring)}L${points(cx - 52, cy + 14)}L${points(cx - 4, cy + 14)}L${points(cx - 22, cy + ring)}L${points(cx + 56, cy - 22)}L${points(cx + 6, cy - 22)}Z`
  return [...dots, disc(cx, cy, ring * 1.28, second), area(bolt, first)].join('')
}

/** Beam of a projector in the dark, for films. */
export const beam: Art = (random, { colors: [light, mid, warm] }) => {
  const y = random.between(190, 260)
  const cone = shape('path', {
    d: `M${points(92, y + 170)}L${points(600, y - 190)}V${points(y + 150)}Z`,
    fill: light,
    'fill-opacity': 0.9,
  })
  const dust = upTo(42).map(() => {
    const along = random.between(15, 100) / 100
    const x = 92 + along * 508
    const middle = y + 170 - along * 190
    return shape('circle', {
      cx: x,
      cy: middle + (random.between(-100, 100) / 100) * 150 * along,
      r: random.between(10, 38) / 10,
      fill: mid,
      'fill-opacity': 0.5,
    })
  })
  const reel = (x: number, top: number, r: number) =>
    disc(x, top, r, warm) +
    upTo(5)
      .map((n) => {
        const turn = (n / 5) * 2 * Math.PI + r
        return disc(x + Math.cos(turn) * r * 0.55, top + Math.sin(turn) * r * 0.55, r * 0.2, mid)
      })
      .join('') +
    disc(x, top, r * 0.14, mid)
  const moon = disc(random.between(60, 250), random.between(70, 120), 34, mid)
  return [
    moon,
    cone,
    ...dust,
    reel(40, y + 86, 58),
    reel(128, y + 66, 44),
    shape('rect', { x: -20, y: y + 122, width: 150, height: 100, rx: 14, fill: mid }),
    box(124, y + 150, 26, 44, warm),
    shape('path', { d: `M20 ${y + 222}l-30 110M90 ${y + 222}l34 110`, stroke: mid, 'stroke-width': 12 }),
  ].join('')
}

/** Strings that swing, for quiet rooms. */
export const strings: Art = (random, { colors: [first, second, third] }) => {
  const count = 26
  const [bend, waist] = [random.between(80, 150), random.between(180, 330)]
  const swings = random.pick([1, 2, 3])
  const threads = upTo(count).map((n) => {
    const part = n / (count - 1)
    const x = 60 + part * 480
    const swing = Math.sin(part * Math.PI * swings) * bend
    const color = n % 5 === 0 ? second : first
    const d = `M${points(x, -10)}C${points(x + swing, waist - 90)} ${points(x - swing, waist + 120)} ${points(x, 520)}`
    return line(d, color, n % 5 === 0 ? 5 : 2.2)
  })
  const bow = random.between(-14, 14)
  return [
    ...threads,
    shape(
      'g',
      { transform: `rotate(${bow} 300 ${waist})` },
      box(-60, waist - 5, 720, 10, third) + box(-60, waist + 16, 720, 3, third),
    ),
    disc(300, waist + 4, 26, second),
  ].join('')
}
