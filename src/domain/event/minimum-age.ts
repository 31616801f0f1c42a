import type { Event } from './table.ts'

// One or two digits of any script, neither within a longer number, a decimal or a time, nor an hour.
const number =
  /(?<!\p{Nd}|\p{Nd}[:.,/])\p{Nd}{1,2}(?!\p{Nd}|[:.,/]\p{Nd}|\s?(?:h|hs|hrs?|uhr|[ap]\.?m)(?!\p{L}))/giu

// Words before a number that make it a maximum, unless they are forbidden: children up to 12, but no minors under 18.
const upTo =
  /(?<!\p{L})(?:menor|under|below|unter|jünger|bis|moins|jusqu|hasta|fins|até|meno|minori|inferior|up to)/iu
const forbidden = /\b(no|not|non|kein|nicht|sin|sem)\b|prohib|proib|interd|vietat|forbid|verboten|defes/iu

// Digits of a script stand in a row, from 0 to 9.
function numberOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return (code - zero) % 10
}

/** Parses the minimum age: «18», «+18», «18 años» and «１８歳以上» are all 18. Null if the text names none, or 0. */
export function minimumAge({ age }: Pick<Event, 'age'>): number | null {
  let before = 0
  for (const { 0: digits, index } of (age ?? '').matchAll(number)) {
    const words = (age ?? '').slice(before, index)
    before = index + digits.length
    if (upTo.test(words) && !forbidden.test(words)) continue
    return Array.from(digits).reduce((sum, digit) => sum * 10 + numberOf(digit), 0) || null
  }
  return null
}
