import { domainToASCII } from 'node:url'
// This entry point omits the country names, which are eighty files.
import isoCountries from 'i18n-iso-countries/index.js'
import { z } from 'zod'
import { identifierPattern } from './ids.ts'
import { tryParse } from './parse.ts'
import { isOneLine } from './printable.ts'

// One parser per input type, shared by GraphQL and REST, so that both accept and refuse the same input.

const printable = (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text.replace(/[\n\r\t]/g, ''))

const tooLong = (max: number) => ({ error: `must be at most ${max} characters`, abort: true })

// Characters that a text may lose when it is composed and tidied, as a factor. Beyond that its length ends the checks
// before anything reads it: to compose a text, to encode a domain and to parse a URL may take time quadratic in it.
const slack = 8

/** Text of 1 to `max` characters, trimmed, and composed or tidied by `tidy`. Nothing but `trim` sees a longer one. */
const trimmed = (max: number, tidy = (given: string) => given) =>
  z
    .string()
    .trim()
    .max(max * slack, tooLong(max))
    .overwrite((given) => tidy(given).trim())
    .min(1, { error: 'must not be empty', abort: true })
    .max(max, tooLong(max))

/** Composes a text (NFC), so that it is the same however it was typed. */
export const composed = (given: string): string => given.normalize('NFC')

/** Text of 1 to `max` characters, trimmed, without control characters (PostgreSQL accepts no NUL). */
export const multilineText = (max: number, tidy?: (given: string) => string) =>
  trimmed(max, tidy).refine(printable, 'must be printable text')

/** The same on one line, as names are shown: without line breaks and characters that nobody sees. */
export const text = (max: number, tidy?: (given: string) => string) =>
  trimmed(max, tidy).refine(isOneLine, 'must be one line of printable text, without invisible characters')

/** Name of a person, composed, without marks of direction, and with one space where there are several. */
export const personName = text(200, (name) =>
  composed(name)
    .replace(/[\u00ad\u061c\u200e\u200f]/g, '')
    .replace(/\p{Zs}{2,}/gu, ' '),
)

/** Text that is found as it is typed: composed (NFC). */
export const composedText = text(200, composed)

/** Name in an address. */
export const slug = composedText

export const identifier = z.string().regex(new RegExp(`^${identifierPattern}$`), 'must be an identifier')

/** Identifier of a row to look up. Takes any text, because one that is no identifier finds no row: NOT_FOUND tells
 *  more than a refused format. */
export const id = z.string()

// As zod's, with the bounds of DNS, and with names of countries in other scripts.
const address =
  /^(?:[\w'+-]+\.)*[\w'+-]*[\w+-]@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+(?:[A-Za-z]{2,63}|xn--[A-Za-z0-9-]{1,59})$/

// The domain in its ASCII form (IDNA), as mail servers look it up.
function withAsciiDomain(given: string): string {
  const [, local = '', domain = ''] = /^(.*@)(.*)$/s.exec(given) ?? []
  return /[^\0-\x7f]/.test(domain) ? local + (domainToASCII(domain) || domain) : given
}

/** E-mail address, trimmed, with an international domain in its ASCII form (IDNA). */
export const email = trimmed(254, withAsciiDomain)
  .refine((given) => !/[^\0-\x7f]/.test(given.slice(0, given.lastIndexOf('@') + 1)), {
    error: 'must have only ASCII letters before the @, because many mail servers take no others',
    abort: true,
  })
  .refine((given) => given.lastIndexOf('@') <= 64, 'must have at most 64 characters before the @')
  .refine((given) => address.test(given), 'must be an e-mail address')
  .meta({ format: 'email' })

/** Phone number in E.164, without the spaces, dashes, dots, brackets and the `(0)` that people write in it. */
export const phone = z
  .string()
  .max(100, tooLong(100))
  .overwrite((number) => number.replace(/\(0\)|[\s\p{Pd}().\u202a\u202c]/gu, ''))
  .refine(
    (number) => /^\+[1-9]\d{6,14}$/.test(number),
    'must be an international number such as +34600000000',
  )

export const gender = z.string().regex(/^\d$/, 'must be one digit, as text')

export const birthday = z.iso
  .date({ error: 'must be a real date, YYYY-MM-DD', abort: true })
  .refine((day) => day >= '1900-01-01', { error: 'must be 1900-01-01 or later', abort: true })
  .refine((day) => day <= new Date().toISOString().slice(0, 10), 'must be in the past')

const countryCodeError = 'must be a two-letter ISO 3166 country code'
export const countryCode = z
  .string()
  // ASCII only: «ß» in upper case is «SS», which is South Sudan.
  .regex(/^[A-Za-z]{2}$/, countryCodeError)
  .transform((code) => code.toUpperCase())
  .refine((code) => isoCountries.isValid(code), countryCodeError)

/** Types of an identity document. */
export const personalDocumentTypes = ['dni', 'nie', 'passport', 'other'] as const
/** Type of an identity document, without case. Others than those above are kept as they are named. */
export const personalDocumentType = text(50, (name) => name.toLowerCase())

const visible = (max: number) =>
  [new RegExp(`^[\\x21-\\x7e]{1,${max}}$`), `must be 1 to ${max} visible ASCII characters`] as const

export const qrCode = z.string().regex(...visible(64))

export const httpUrl = z
  .string()
  .max(2048, tooLong(2048))
  .check(z.url({ protocol: /^https?$/, error: 'must be an http(s) address', abort: true }))
  // The URL parser accepts these characters, but the database does not.
  .refine((url) => url.isWellFormed() && !/[\p{Cc}\s]/u.test(url), 'must be an http(s) address')

const languageError = 'must be a language tag such as es or pt-BR'

const hasTwoLetters = (code: string) => /^[a-z]{2}$/.test(code)

const anyLanguage = z
  .string()
  .max(35, tooLong(35))
  .refine((tag) => tryParse(() => new Intl.Locale(tag)) !== undefined, { error: languageError, abort: true })
  .transform((tag) => new Intl.Locale(tag).language)

/** Language tag (BCP 47), reduced to its language: `pt-BR` to `pt`. */
export const language = anyLanguage.refine(hasTwoLetters, languageError)

/** The same for a person. A language without a code of two letters counts as absent, such as `fil-PH` (DECISIONS 95). */
export const personLanguage = anyLanguage.transform((code) => (hasTwoLetters(code) ? code : undefined))

/** Code that people type. Its case does not matter. */
export const typedCode = z
  .string()
  .trim()
  .regex(...visible(64))

/** Amount of a currency, as GraphQL takes it (see `requireAmount`). */
export const money = z
  .strictObject({
    amount: z.string().describe('Amount in the major unit of its currency, such as `"10.50"` for €10.50.'),
    currency: z.string().describe('Its currency, as an ISO 4217 code.'),
  })
  .describe('Amount of money.')

/** Times from one on and before another; open where that is missing. */
export const timeRange = z
  .object({
    from: z.date().nullish().describe('First of these times; open if omitted.'),
    until: z.date().nullish().describe('End, which is none of these times; open if omitted.'),
  })
  .describe('Times from one on and before another.')

/** Identifier that a client has for something of its own. */
export const reference = text(100)

/** Number in a range. */
export const inRange = <T extends z.ZodNumber>(number: T, min: number, max: number) =>
  number.min(min, `must be at least ${min}`).max(max, `must be at most ${max}`)

/** Whole number in a range. */
export const integer = (min: number, max: number) => inRange(z.int('must be a whole number'), min, max)

/** Number of people or of items, up to the maximum of an `integer` column. */
export const quantity = integer(1, 2_147_483_647)

export const idempotencyKey = z.string().regex(...visible(255))

const minDate = new Date('0001-01-01T00:00:00Z')
const maxDate = new Date('9999-12-31T23:59:59.999Z')

/** Reports whether a date is valid and in a range that PostgreSQL reads: it accepts no year 0 and no
 *  five-digit years. */
export const isStorableDate = (date: Date): boolean => date >= minDate && date <= maxDate

const storable = [isStorableDate, 'must be in the years 1 to 9999'] as const

/** Timestamp of RFC 3339, with its zone: a plain date is another night in Madrid than in UTC. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine(...storable)

const isoForm =
  /^(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?(?:Z|([+ -])(\d\d)(?::?(\d\d))?)?$/i

// Writes a time of ISO 8601 in the form of RFC 3339. A plus that was not encoded arrives as a space.
const inRfc3339 = (given: string) =>
  given.replace(isoForm, (...[, year, month, day, hour, minute, second, fraction, sign, offset, minutes]) => {
    const zone = sign ? `${sign === '-' ? '-' : '+'}${offset}:${minutes ?? '00'}` : 'Z'
    return `${year}-${month}-${day}T${hour}:${minute}:${second ?? '00'}.${fraction ?? '0'}${zone}`
  })

/** Timestamp in ISO 8601, in UTC if it has no zone, as REST takes it. A plain date means midnight UTC (DECISIONS, times). */
export const isoTime = z
  .preprocess(
    (given: string) => (typeof given === 'string' ? inRfc3339(given) : given),
    z.union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be an ISO 8601 date or timestamp'),
  )
  .transform((text) => new Date(text))
  .refine(...storable)

// Rounds to a tenth of a millimetre: the square of a tiny number underflows, which PostgreSQL refuses.
const roundDegrees = (degrees: number) => Math.round(degrees * 1e9) / 1e9

export const latitude = inRange(z.number(), -90, 90).transform(roundDegrees)
export const longitude = inRange(z.number(), -180, 180).transform(roundDegrees)
/** Kilometres. */
export const radius = z.number().gt(0, 'must be more than 0').max(500, 'must be at most 500')
export const search = z.string().max(200, tooLong(200)).refine(printable, 'must be printable text')
export const pageSize = integer(1, 100)
/** Maximum offset of a page, because the database reads all skipped rows. Clients page through longer lists
 *  by dates, or by cursors over GraphQL. */
export const maxOffset = 10_000
export const offset = integer(0, maxOffset)

/** Makes optional filters of a list of these things, each with a text that says which of them it returns. */
export const filtersOf =
  (things: string) =>
  <T extends z.ZodType>(type: T, which: string) =>
    type.nullish().describe(`Returns only ${things} ${which}.`)

/** Parses numbers in query strings. Leaves anything else for the inner type to refuse. */
export const fromQuery = <T extends z.ZodType>(number: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^[+-]?\d+(\.\d+)?$/.test(value) ? Number(value) : value),
    number,
  )
