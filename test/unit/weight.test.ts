import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

// Weight of src: what a newcomer has to carry. It fails if something grows by more than a tenth, so that growth is
// decided and not drifted into: if it is worth it, write the new number here.

type Weight = {
  files: number
  lines: number
  /** Lines that are neither blank, nor comments, nor imports. */
  code: number
  /** Files that are loaded, directly or not, for a checkout, a payment and a scan. */
  checkout: number
  payment: number
  checkIn: number
}
const decided: Weight = { files: 371, lines: 35_774, code: 25_172, checkout: 108, payment: 83, checkIn: 66 }

const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
const entries = {
  checkout: 'domain/sale/checkout/checkout-rest.ts',
  payment: 'domain/sale/settle/apply-provider-event.ts',
  checkIn: 'domain/check-in/check-in-tickets.ts',
  page: names.find((name) => name.endsWith('/events-rest.ts')) ?? '',
}
type Entry = keyof typeof entries

/** Files of those that may have to be read to change a rule of tickets: all but the engine's. */
const decidedProduct: Record<Entry, number> = { checkout: 65, payment: 55, checkIn: 36, page: 25 }

const texts = new Map(names.map((name) => [name, readFileSync(`src/${name}`, 'utf8')]))

/** Counts lines of code: without those that are blank, comments or imports. */
function countCode(text: string): number {
  const bare = text
    .replace(/^import\s[^'"]*?from\s+'[^']+'\n/gm, '')
    .replace(/^import\s+'[^']+'\n/gm, '')
    .replace(/^\s*\/\*[\s\S]*?\*\/\s*\n/gm, '')
  return bare.split('\n').filter((line) => line.trim() !== '' && !/^\s*\/\//.test(line)).length
}

/** Lists a file of src and all of src that it imports, directly or not, but for what is of types alone. */
function closureOf(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry) || !texts.has(entry)) return seen
  seen.add(entry)
  const imports = (texts.get(entry) ?? '').matchAll(/^(?:import|export)\s(?!type\b)[^'"]*?'(\.[^']+)'/gm)
  for (const [, other = ''] of imports) closureOf(posix.join(posix.dirname(entry), other), seen)
  return seen
}

test('src weighs no more than was decided, and a tenth', () => {
  const all = [...texts.values()]
  const weight: Weight = {
    files: names.length,
    lines: all.reduce((sum, text) => sum + text.split('\n').length - 1, 0),
    code: all.reduce((sum, text) => sum + countCode(text), 0),
    checkout: closureOf(entries.checkout).size,
    payment: closureOf(entries.payment).size,
    checkIn: closureOf(entries.checkIn).size,
  }
  console.table({ decided, now: weight })
  for (const [what, count] of Object.entries(weight))
    expect(count, what).toBeLessThanOrEqual(decided[what as keyof Weight] * 1.1)
  // Control: the counters see what is there.
  expect(Math.min(weight.checkout, weight.payment, weight.checkIn)).toBeGreaterThan(20)
  expect(
    countCode(
      "import { a } from 'a'\n\n// A comment.\nconst one = 1\n/** Another\n *  one. */\nconst two = 2\n",
    ),
  ).toBe(2)
})

test('no more of the product is loaded than was decided', () => {
  const loaded = Object.entries(entries).map(([name, entry]) => ({ name, files: [...closureOf(entry)] }))
  const product = Object.fromEntries(
    loaded.map(({ name, files }) => [name, files.filter((file) => !file.startsWith('engine/')).length]),
  )
  console.table({ decided: decidedProduct, now: product })
  for (const [name, decided] of Object.entries(decidedProduct))
    expect(product[name], name).toBeLessThanOrEqual(decided)
  // Control: both kinds of files are seen.
  for (const { name, files } of loaded) {
    expect(product[name], name).toBeGreaterThan(10)
    expect(product[name], name).toBeLessThan(files.length - 10)
  }
})
