import type { Event } from './table.ts'

/** Parses the minimum age: «18», «+18» and «18 años» are all 18. Null if the text has no number. */
export function minimumAge({ age }: Pick<Event, 'age'>): number | null {
  const digits = /\d{1,3}/.exec(age ?? '')?.[0]
  return digits === undefined ? null : Number(digits)
}
