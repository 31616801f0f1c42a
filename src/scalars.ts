import isoCountries from 'i18n-iso-countries'
import { z } from 'zod'
import { type Code, type Facts, type Problem, Refusal } from './errors.ts'

// One parser per input type, for GraphQL and REST alike. What is refused here is refused on both.

const printable = (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text.replace(/[\n\r\t]/g, ''))

/** Text of a person: trimmed, not empty, no control characters (PostgreSQL takes no NUL), at most `max` characters. */
export const text = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max, `must be at most ${max} characters`)
    .refine(printable, 'must be printable text')

export const identifier = z.string().regex(/^[\w.:-]{1,64}$/, 'must be an identifier')

export const email = z.email('must be an e-mail address').max(254, 'must be at most 254 characters')

export const phone = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'must be an international number such as +34600000000')

export const gender = z.string().regex(/^\d$/, 'must be one digit, as text')

export const birthday = z.iso
  .date('must be a real date, YYYY-MM-DD')
  .refine((day) => day > '1900-01-01' && day <= new Date().toISOString().slice(0, 10), 'must be in the past')

export const countryCode = z
  .string()
  .transform((code) => code.toUpperCase())
  .refine(
    (code) => code.length === 2 && isoCountries.isValid(code),
    'must be a two-letter ISO 3166 country code',
  )

export const documentType = z.enum(['dni', 'nie', 'passport', 'other'], 'must be dni, nie, passport or other')

export const qrCode = z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 visible ASCII characters')

export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  .max(2048, 'must be at most 2048 characters')

const metadataLimit = 1024

/** An object of at most 1024 bytes as UTF-8 JSON. Text and numbers are refused: they read back as something else. */
export const metadata = z.record(z.string(), z.json()).superRefine((value, issues) => {
  const json = JSON.stringify(value)
  if (Buffer.byteLength(json) > metadataLimit)
    issues.addIssue({
      code: 'custom',
      message: `must be at most ${metadataLimit} bytes as JSON`,
      params: { code: 'METADATA_TOO_LARGE', facts: { limit: metadataLimit } },
    })
  if (!json.isWellFormed() || json.includes('\\u0000'))
    issues.addIssue({ code: 'custom', message: 'must hold printable text' })
})

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')

/** A moment: ISO 8601 with a zone, or without one in UTC; a plain date is midnight UTC (DECISIONS 3). */
export const moment = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true, local: true })],
    'must be an ISO 8601 date or timestamp',
  )
  .transform(
    (text) => new Date(/T.*(Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`),
  )

export const latitude = z.number().min(-90, 'must be at least -90').max(90, 'must be at most 90')
export const longitude = z.number().min(-180, 'must be at least -180').max(180, 'must be at most 180')
/** Kilometres. */
export const radius = z.number().gt(0, 'must be more than 0').max(500, 'must be at most 500')
export const search = z.string().max(200, 'must be at most 200 characters')
export const pageSize = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(100, 'must be at most 100')
export const offset = z
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(2_147_483_647, 'must be at most 2147483647')

/** What a query string spells as a number, as that number; anything else is left for the parser to refuse. */
export const fromQuery = <T extends z.ZodType>(number: T) =>
  z.preprocess(
    (given) => (typeof given === 'string' && /^[+-]?\d+(\.\d+)?$/.test(given) ? Number(given) : given),
    number,
  )

type Issue = z.core.$ZodIssue

const pathOf = (issue: Issue) => issue.path.map((key) => (typeof key === 'number' ? key : String(key)))

function problemsOf(issue: Issue): Problem[] {
  const path = pathOf(issue)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      code: 'UNKNOWN_FIELD',
      message: 'There is no such field.',
      path: [...path, key],
    }))
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return [{ code: 'REQUIRED', message: 'This field is required.', path }]
  const named: { code?: Code; facts?: Facts } = issue.code === 'custom' ? (issue.params ?? {}) : {}
  return [{ code: named.code ?? 'INVALID', message: sentence(issue, path), path, facts: named.facts }]
}

// «must be …» is how this file's own messages begin; the library's are sentences already.
const sentence = (issue: Issue, path: (string | number)[]) =>
  issue.message.startsWith('must ') ? `${path.at(-1) ?? 'The value'} ${issue.message}.` : `${issue.message}.`

/** Every mistake that a parser found, each with the place that it was found at. */
export const problemsIn = (error: z.ZodError): Problem[] => error.issues.flatMap(problemsOf)

/** Parses what a client sent. Refuses: REQUIRED, INVALID, UNKNOWN_FIELD, METADATA_TOO_LARGE, all at once. */
export function parse<T extends z.ZodType>(type: T, given: unknown): z.output<T> {
  const parsed = type.safeParse(given, { reportInput: true })
  if (parsed.success) return parsed.data
  const [first, ...rest] = problemsIn(parsed.error)
  throw new Refusal(first ?? { code: 'INVALID', message: 'The input is not valid.' }, ...rest)
}
