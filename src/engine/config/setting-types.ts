import { resolve } from 'node:path'
import { z } from 'zod'

/** Name of a setting in the configuration: that of its variable in camel case. */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>

/** Configuration of environment variables that are used as they are, under their names in camel case. */
export type ConfigOf<Shape extends z.ZodRawShape> = InCamelCase<z.output<z.ZodObject<Shape>>>

type InCamelCase<Settings> = { [Name in keyof Settings as CamelCase<Name & string>]: Settings[Name] }

// Types shared by several environment variables.

export const trueOrFalse = z
  .stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' })
  .default(false)

/** Path of a file or a folder, from the folder of the process if it is relative. */
export const path = z
  .string()
  .min(1)
  .transform((path) => resolve(path))

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))

export const commaSeparated = z.string().transform((list) =>
  list
    .trim()
    .split(/\s*,\s*/)
    .filter(Boolean),
)

/** A count, or `off` for null. */
export const countOrOff = (max: number, byDefault: number, mistake: string) =>
  z
    .union([z.literal('off'), wholeNumber(1, max)], mistake)
    .default(byDefault)
    .transform((count) => (count === 'off' ? null : count))

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' })

/** An http(s) address without a trailing slash. */
export const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, ''))

/** Reports whether a text is the origin of http(s) pages, as browsers state it. */
export const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
