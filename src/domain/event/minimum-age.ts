import type { Event } from './table.ts'

/** The minimum age as a number: «18», «+18» and «18 años» all say 18. Null where the text has no number. */
export function minimumAge({ age }: Pick<Event, 'age'>): number | null {
  const digits = /\d{1,3}/.exec(age ?? '')?.[0]
  return digits === undefined ? null : Number(digits)
}
