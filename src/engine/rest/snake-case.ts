import { z } from 'zod'
import { isoTime } from '../base/input-types.ts'

/** Converts a camelCase name to REST's snake_case: `startDate` → `start_date`. */
export const toSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Gives the columns of a row REST's names. */
export const rowInSnakeCase = (row: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [toSnakeCase(name), value]))

/** Converts the parser of a camelCase object into one for REST's snake_case, with times as text. Its output is
 *  still camelCase, and the paths of its errors are snake_case. Fields of it that REST calls otherwise are `named`. */
export const inSnakeCase = <Output>(type: z.ZodType<Output>, named?: Record<string, string>) =>
  withTexts(type, renameFields(type, named)) as z.ZodType<Output>

/** The same for a query string, which has no null. */
export const inQuery = <Shape extends z.ZodRawShape>(type: z.ZodObject<Shape>) => {
  const given = Object.entries<z.ZodType>(type.shape as never)
  const fields = given.map(([name, field]) => [name, withoutNull(field)])
  return inSnakeCase(z.strictObject(Object.fromEntries(fields) as Shape))
}

function withoutNull(type: z.ZodType): z.ZodType {
  if (!(type instanceof z.ZodOptional)) return type
  const inner = type.unwrap()
  return inner instanceof z.ZodNullable ? withTexts(type, (inner.unwrap() as z.ZodType).optional()) : type
}

// Keeps descriptions, which belong to a schema instance and not to its copy. They name fields as REST does.
function withTexts(type: z.ZodType, copy: z.ZodType): z.ZodType {
  const meta = type.meta()
  const description = meta?.description?.replace(/`[a-z]+[A-Z]\w*`/g, toSnakeCase)
  return meta ? copy.meta({ ...meta, ...(description && { description }) }) : copy
}

function renameFields(type: z.ZodType, named: Record<string, string> = {}): z.ZodType {
  if (type instanceof z.ZodOptional) return inSnakeCase(type.unwrap() as z.ZodType).optional()
  if (type instanceof z.ZodNullable) return inSnakeCase(type.unwrap() as z.ZodType).nullable()
  if (type instanceof z.ZodDefault)
    return inSnakeCase(type.unwrap() as z.ZodType).default(type.def.defaultValue)
  if (type instanceof z.ZodArray)
    return new z.ZodArray({ ...type.def, element: inSnakeCase(type.element as z.ZodType) })
  if (type instanceof z.ZodDate) return isoTime
  if (!(type instanceof z.ZodObject)) return type
  const names = new Map(Object.keys(type.shape).map((name) => [named[name] ?? toSnakeCase(name), name]))
  const shape = Object.fromEntries([...names].map(([snake, name]) => [snake, inSnakeCase(type.shape[name])]))
  return z
    .strictObject(shape)
    .transform((value) =>
      Object.fromEntries(Object.entries(value).map(([snake, field]) => [names.get(snake) ?? snake, field])),
    )
}
