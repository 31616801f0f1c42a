import { z } from 'zod'
import { isoDecimals } from '../../shared/currencies.ts'
import { moment } from '../../shared/input-types.ts'
import type { rateTypes } from '../ticket-rate/table.ts'

// Field types of the catalogue file. In an optional field, null means the same as absent.

export const currency = z
  .string()
  .refine((code) => isoDecimals.has(code), 'must be an ISO 4217 currency code such as EUR')
  .describe('Currency of all amounts of the organization, as an ISO 4217 code. It cannot be changed.')

function isTimezone(name: string): boolean {
  try {
    // The runtime also accepts offsets such as +01:00, which are no IANA names.
    return /^[A-Z]/i.test(name) && Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
export const timezone = z.string().refine(isTimezone, 'must be an IANA time zone such as Europe/Madrid')

/** Maximum of an `integer` column. */
export const maxCount = 2_147_483_647
export const count = (min: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(maxCount, `must be at most ${maxCount}`)

const hasFourDecimals = (value: number) => Math.round(value * 10_000) / 10_000 === value
export const isPercentage = (value: number): boolean => value <= 100 && hasFourDecimals(value)

export const percentage = z
  .number()
  .min(0, 'must be at least 0')
  .max(100, 'must be at most 100')
  .refine(hasFourDecimals, 'must have at most four decimals')

/** Decimals are checked later, because the currency is in another part of the file. */
export const amount = z
  .number()
  .min(0, 'must be at least 0')
  .describe("Amount in major units, with no more decimals than the organization's currency has.")

export const timestamp = z
  .string()
  .describe('Timestamp in ISO 8601, in UTC if it has no zone. A plain date means midnight UTC.')
  .pipe(moment)

/** Optional text. Empty text counts as absent. */
export const optional = <T extends z.ZodType<unknown, string>>(type: T) =>
  z
    .string()
    .nullish()
    .transform((text) => text?.trim() || null)
    .pipe(type.nullable())

/** Optional name from a list. Empty text counts as absent. */
export const oneOf = <Name extends string>(names: readonly [Name, ...Name[]]) =>
  optional(z.enum(names, `must be ${names.join(', ').replace(/, (?=[^,]*$)/, ' or ')}`))

/** Type of a rate, which follows from its capacity. */
export const rateTypeOf = (
  availability: { available: number | null } | null | undefined,
): (typeof rateTypes)[number] => (availability?.available == null ? 'unlimited' : 'limited')

/** Options of a rule between fields that runs even if another field is invalid, so that all mistakes are
 *  reported at once. The compared values may then have any type, so the rule must pass whenever it cannot
 *  compare them. */
export const rule = (field: string, message: string) => ({
  path: [field],
  message,
  when: ({ value }: z.core.ParsePayload) => typeof value === 'object' && value !== null,
})

/** Description of an identifier that may be absent. */
export const derived = 'Identifier. Derived from the names if absent, so that a second import finds it again.'

/** Nested list, whose items are parsed one by one, so that a mistake in one does not hide those in another. */
export const list = z.array(z.unknown(), 'must be a list').nullish()
