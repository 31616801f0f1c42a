import { z } from 'zod'
import { moment } from '../../shared/input-types.ts'

// Kinds of fields that only a catalogue file has. An optional field may be absent or null, which say the same.

const currencies = new Set(Intl.supportedValuesOf('currency'))
export const currency = z
  .string()
  .refine((code) => currencies.has(code), 'must be an ISO 4217 currency code such as EUR')
  .describe('ISO 4217 code. All amounts of the organization are in it, and it never changes.')

function isTimezone(name: string): boolean {
  try {
    // Offsets such as +01:00 are time zones to the runtime, but have no name.
    return /^[A-Z]/i.test(name) && Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
export const timezone = z.string().refine(isTimezone, 'must be an IANA time zone such as Europe/Madrid')

/** What an `integer` column holds. */
export const largestCount = 2_147_483_647
export const count = (least: number) =>
  z
    .int('must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(largestCount, `must be at most ${largestCount}`)

const hasFourDecimals = (value: number) => Math.round(value * 10_000) / 10_000 === value
export const isPercentage = (value: number): boolean => value <= 100 && hasFourDecimals(value)

export const percentage = z
  .number()
  .min(0, 'must be at least 0')
  .max(100, 'must be at most 100')
  .refine(hasFourDecimals, 'must have at most four decimals')

/** Its decimals are those of the organization's currency, which another part of the file tells. */
export const amount = z
  .number()
  .min(0, 'must be at least 0')
  .describe("In major units, with no more decimals than the organization's currency has.")

export const timestamp = z
  .string()
  .describe('ISO 8601, in UTC where it names no zone; a date alone is its midnight.')
  .pipe(moment)

/** Text that is empty says no more than text that is absent. */
export const optional = <T extends z.ZodType<unknown, string>>(type: T) =>
  z
    .string()
    .nullish()
    .transform((given) => given?.trim() || null)
    .pipe(type.nullable())

/** For a rule between fields: it is asked even where another field is wrong, so that every mistake is named at once.
 *  What it compares may then be of any type, so it complains only of what it can compare. */
export const rule = (field: string, message: string) => ({
  path: [field],
  message,
  when: ({ value }: z.core.ParsePayload) => typeof value === 'object' && value !== null,
})
