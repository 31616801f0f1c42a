import { z } from 'zod'

/** Converts a camelCase name to REST's snake_case: `ticketRateId` → `ticket_rate_id`. */
export const toSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Converts the parser of a camelCase object into one for REST's snake_case. Its output is still camelCase,
 *  and the paths of its errors are snake_case. */
export function inSnakeCase<Output>(type: z.ZodType<Output>): z.ZodType<Output> {
  return rename(type) as z.ZodType<Output>
}

// Keeps descriptions, which belong to a schema instance and not to its copy.
function rename(type: z.ZodType): z.ZodType {
  const renamed = renameFields(type)
  const meta = type.meta()
  return meta && renamed !== type ? renamed.meta(meta) : renamed
}

function renameFields(type: z.ZodType): z.ZodType {
  if (type instanceof z.ZodOptional) return rename(type.unwrap() as z.ZodType).optional()
  if (type instanceof z.ZodNullable) return rename(type.unwrap() as z.ZodType).nullable()
  if (type instanceof z.ZodDefault) return rename(type.unwrap() as z.ZodType).default(type.def.defaultValue)
  if (type instanceof z.ZodArray) {
    const renamed = new z.ZodArray({ ...type.def, element: rename(type.element as z.ZodType) })
    return renamed
  }
  if (!(type instanceof z.ZodObject)) return type
  const names = new Map(Object.keys(type.shape).map((name) => [toSnakeCase(name), name]))
  const shape = Object.fromEntries([...names].map(([snake, name]) => [snake, rename(type.shape[name])]))
  return z
    .strictObject(shape)
    .transform((value) =>
      Object.fromEntries(Object.entries(value).map(([snake, field]) => [names.get(snake) ?? snake, field])),
    )
}
