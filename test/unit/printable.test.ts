import { expect, test } from 'vitest'
import { isOneLine, oneLine } from '../../src/engine/base/printable.ts'

// Names as people have them, and texts that pretend to be a name.

test.each([
  'Ana Núñez',
  'Łukasz Żółć-O’Neill, Jr.',
  '李 小龍',
  '𠮷野家',
  'ดวงใจ',
  'דוד בן־גוריון',
  'محمد علی\u200cپور',
  'മോഹന\u0d4d\u200d',
  'ක\u0dca\u200dෂ',
  '👩🏽\u200d🚀',
  '❤️\u200d🔥 Club',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿 night',
  'Jahres\u00adabschluss',
  'مرحبا\u200f!',
])('%j is one line', (name) => {
  expect(isOneLine(name)).toBe(true)
  expect(oneLine(name)).toBe(name)
})

test.each([
  ['Ana\nYour ticket is at https://evil.example', 'Ana Your ticket is at https://evil.example'],
  ['Ana\r\n\tNúñez', 'Ana Núñez'],
  ['Ana\u2028Núñez', 'Ana Núñez'],
  ['Ana\u0085Núñez', 'AnaNúñez'],
  ['Ana\u0007', 'Ana'],
  ['A\u200bna', 'Ana'],
  ['\u202eanA', 'anA'],
  ['\u2066Ana\u2069', 'Ana'],
  ['A\u2060na', 'Ana'],
  ['A\ufeffna', 'Ana'],
  ['Ana\u{e0041}\u{e0042}', 'Ana'],
  [`🏴${'\u{e0061}'.repeat(20)}`, `🏴${'\u{e0061}'.repeat(8)}`],
  ['Ana \u200d Núñez', 'Ana Núñez'],
  ['Ana\u200d', 'Ana'],
])('%j is not, and shown as %j', (name, shown) => {
  expect(isOneLine(name)).toBe(false)
  expect(oneLine(name)).toBe(shown)
  expect(isOneLine(shown)).toBe(true)
})

test('half a character is refused, and a long text takes no time', () => {
  expect(isOneLine('\ud83d')).toBe(false)
  const begun = performance.now()
  expect(isOneLine('\u{1f3f4}'.repeat(100) + '\u{e0061}'.repeat(100_000))).toBe(false)
  expect(isOneLine('a\u200d'.repeat(10_000))).toBe(false)
  expect(performance.now() - begun).toBeLessThan(200)
})
