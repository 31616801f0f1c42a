import { z } from 'zod'
import { inRange, integer, isoTime, slug as slugText } from '../../engine/base/input-types.ts'
import { isoDecimals } from '../../engine/base/money.ts'
import { tryParse } from '../../engine/base/parse.ts'
import type { rateTypes } from '../ticket-rate/table.ts'

// Field types of the catalogue file. An optional field that is absent stays as it is, and null clears it.

export const currency = z
  .string()
  .refine((code) => isoDecimals.has(code), 'must be an ISO 4217 currency code such as EUR')
  .describe('Currency of all amounts of the organization, as an ISO 4217 code. It cannot be changed.')

/** Reports whether a text names a time zone of the IANA database as an area and a place, or is UTC. The runtime
 *  also accepts offsets, and abbreviations that mean several places: its BST is Dhaka's. */
export const isTimezone = (name: string): boolean =>
  /^([A-Z]\w+\/.+|UTC)$/.test(name) &&
  tryParse(() => Intl.DateTimeFormat('en', { timeZone: name })) !== undefined

/** Message for a time zone that this process or the database does not know. */
export const notTimezone = 'must be an IANA time zone such as Europe/Madrid'
export const timezone = z.string().refine(isTimezone, notTimezone)

/** Maximum of an `integer` column. */
export const maxCount = 2_147_483_647
export const count = (min: number) => integer(min, maxCount)

/** Limit that is absent, null or 0 for none. */
export const limit = count(0)
  .nullish()
  .transform((most) => most || (most === undefined ? undefined : null))

const hasFourDecimals = (value: number) => Math.round(value * 10_000) / 10_000 === value
export const isPercentage = (value: number): boolean => value <= 100 && hasFourDecimals(value)

export const percentage = inRange(z.number(), 0, 100).refine(
  hasFourDecimals,
  'must have at most four decimals',
)

/** Decimals are checked later, because the currency is in another part of the file. */
export const amount = z
  .number()
  .min(0, 'must be at least 0')
  .describe("Amount in major units, with no more decimals than the organization's currency has.")

export const timestamp = z
  .string()
  .describe(
    'Timestamp in ISO 8601, in UTC if it has no zone. A plain date is a day of the venue: its first moment, and of an end its last.',
  )
  .pipe(isoTime)

/** Optional text. Empty text counts as null. */
export const optional = <T extends z.ZodType<unknown, string>>(type: T) =>
  z
    .string()
    .nullish()
    .transform((text) => (text === undefined ? undefined : text?.trim() || null))
    .pipe(type.nullish())

export const slug = optional(slugText)

/** Optional name from a list. Empty text counts as null. */
export const oneOf = <Name extends string>(names: readonly [Name, ...Name[]]) =>
  optional(z.enum(names, `must be ${names.join(', ').replace(/, (?=[^,]*$)/, ' or ')}`))

/** Options of a rule between fields that runs even if another field is invalid, so that all mistakes are
 *  reported at once. The compared values may then have any type, so the rule must pass whenever it cannot
 *  compare them. */
export const rule = (field: string, message: string) => ({
  path: [field],
  message,
  when: ({ value }: z.core.ParsePayload) => typeof value === 'object' && value !== null,
})

export const availability = z
  .strictObject({
    capacity: count(0).nullish().describe('Total number of places, whoever sells them; null for no limit.'),
    sold_elsewhere: count(0)
      .nullish()
      .describe('Number of these places that are sold elsewhere, without a ticket here.'),
    sold: count(0).nullish(),
    available: count(0).nullish(),
  })
  .refine(
    ({ sold, available }) => !((sold ?? 0) + (available ?? 0) > maxCount),
    rule('available', `must be at most ${maxCount} together with sold`),
  )
  .nullish()
  .describe(
    'Places. `sold` and `available` are those of GET /events: of a new rate their sum is the capacity, and what was sold counts as sold elsewhere; later they can raise the capacity and never lower it. `capacity` says it whatever was sold. No limit if null, or `available` is null.',
  )

type Availability = Partial<NonNullable<z.output<typeof availability>>>

/** Capacity that a file gives, or reports by its sum of places sold and left; null for no limit, undefined if
 *  it says nothing of it. */
export function capacityIn(given: Availability | null | undefined): number | null | undefined {
  if (!given) return given
  if (given.capacity !== undefined) return given.capacity
  return given.available == null ? given.available : (given.sold ?? 0) + given.available
}

/** Type of a rate, which follows from its capacity; undefined if the file says nothing of it. */
export function rateTypeOf(given: Availability | null | undefined): (typeof rateTypes)[number] | undefined {
  const capacity = capacityIn(given)
  return capacity === undefined ? undefined : capacity === null ? 'unlimited' : 'limited'
}

/** Description of an identifier that may be absent. */
export const ownIdText = 'Identifier, unique in the whole service, whoever imports.'
export const idText = `${ownIdText} Derived from the names if absent, so that a second import finds it again.`

/** Yes or no, which may be absent. */
export const flag = z.boolean().nullish()

/** List of objects, which may be absent. */
export const listOf = <T extends z.ZodType>(type: T) => z.array(type, 'must be a list').nullish()
