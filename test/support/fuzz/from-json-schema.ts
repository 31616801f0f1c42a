import fc from 'fast-check'
import { anything, text } from './values.ts'

/** The subset of JSON Schema that the OpenAPI document uses. */
export type JsonSchema = {
  type?: string | string[]
  anyOf?: JsonSchema[]
  enum?: unknown[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
}

/** Returns plausible values of a field by its name, such as existing IDs. */
export type Pool = (name: string) => unknown[]

const soon = fc
  .date({ min: new Date('1950-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

function textOf({ format, pattern, minLength, maxLength }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'date') return soon
  if (format === 'email') return fc.constantFrom('ana@example.com', 'o.k+1@sub.example.org')
  if (format === 'uri') return fc.webUrl()
  if (format === 'date-time') return soon.map((day) => `${day}T12:00:00Z`)
  if (pattern) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ minLength, maxLength: Math.min(40, maxLength ?? 40) })
}

function numberOf({ type, minimum, exclusiveMinimum, maximum }: JsonSchema): fc.Arbitrary<number> {
  const min = minimum ?? exclusiveMinimum ?? -1000
  const max = maximum ?? 1000
  if (type === 'integer') return fc.integer({ min: Math.ceil(min), max: Math.min(max, 2 ** 31 - 1) })
  return fc.double({ min, max, noNaN: true })
}

// Includes at most three optional fields, because each one is another chance of being refused.
export function objectOf(properties: Record<string, JsonSchema>, required: string[], pool: Pool) {
  const optional = Object.keys(properties).filter((key) => !required.includes(key))
  const fields = (keys: string[]) =>
    fc.record(Object.fromEntries(keys.map((key) => [key, arbitraryOf(properties[key] ?? {}, pool, key)])))
  return fc
    .subarray(optional, { maxLength: Math.min(3, optional.length) })
    .chain((keys) => fields([...required, ...keys]))
}

/** Generates values that are valid under a schema. */
export function arbitraryOf(schema: JsonSchema, pool: Pool, name = ''): fc.Arbitrary<unknown> {
  const { type, anyOf, enum: values, properties, items } = schema
  if (values) return fc.constantFrom(...values)
  if (anyOf) return fc.oneof(...anyOf.map((option) => arbitraryOf(option, pool, name)))
  if (Array.isArray(type))
    return fc.oneof(...type.map((option) => arbitraryOf({ ...schema, type: option }, pool, name)))
  if (properties) return objectOf(properties, schema.required ?? [], pool)
  if (type === 'object')
    return fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  if (type === 'array') return fc.array(arbitraryOf(items ?? {}, pool, name), { minLength: 1, maxLength: 3 })
  if (type === 'string') {
    const known = pool(name)
    const fitting = textOf(schema)
    return known.length > 0 ? fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, fitting) : fitting
  }
  if (type === 'number' || type === 'integer') return numberOf(schema)
  return type === 'boolean' ? fc.boolean() : fc.constant(null)
}

type Path = (string | number)[]

const pathsIn = (value: unknown, above: Path = []): Path[] =>
  typeof value === 'object' && value !== null
    ? [above, ...Object.entries(value).flatMap(([key, field]) => pathsIn(field, [...above, key]))]
    : [above]

function replaced(value: unknown, [key, ...rest]: Path, change: (old: unknown) => unknown): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? replaced(item, rest, change) : item))
  const fields = value as Record<string, unknown>
  return { ...fields, [key]: replaced(fields[key], rest, change) }
}

/** Mutates valid values: replaces one or two places by anything, or adds an unknown field there. */
export const mutatedFrom = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(valid, fc.array(fc.tuple(fc.nat(), anything, fc.option(text)), { minLength: 1, maxLength: 2 }))
    .map(([value, changes]) =>
      changes.reduce<unknown>((changed, [at, anew, field]) => {
        const paths = pathsIn(changed)
        return replaced(changed, paths[at % paths.length] ?? [], (old) =>
          field !== null && typeof old === 'object' && old !== null && !Array.isArray(old)
            ? { ...old, [field]: anew }
            : anew,
        )
      }, value),
    )
