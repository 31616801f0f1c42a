import { z } from 'zod'

export type JsonSchema = z.core.JSONSchema.JSONSchema

type Direction = 'input' | 'output'

// Formats that say as much as the pattern that zod adds to them.
const formats = ['date', 'date-time', 'email', 'uri']

const isNull = (schema: JsonSchema) => schema.type === 'null' && Object.keys(schema).length === 1

// Makes `T | null` one schema, which generators and the documentation page show better than an alternative.
function joinNull(schema: JsonSchema): void {
  const [value, nothing, ...others] = schema.anyOf ?? []
  const canJoin = value && nothing && isNull(nothing) && others.length === 0 && typeof value.type === 'string'
  if (!canJoin) return
  const values = value.enum && { enum: [...value.enum, null] }
  delete schema.anyOf
  Object.assign(schema, { ...value, ...schema, type: [value.type, 'null'], ...values })
}

// Takes away what says nothing to a client. The schemas below this one are tidy already.
function tidy(schema: JsonSchema, direction: Direction): void {
  const { format, minimum, maximum, additionalProperties } = schema
  if (format && formats.includes(format)) delete schema.pattern
  if (minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  // Responses may get further fields, which clients ignore (DECISIONS, versions).
  if (direction === 'output' && additionalProperties === false) delete schema.additionalProperties
  joinNull(schema)
}

/** Converts zod schemas to JSON Schemas. Those with an `id` in their metadata become components of that name. */
export function createSchemas() {
  const named = new Map<string, JsonSchema>()
  return {
    /** Returns the schema of what a client sends (`input`) or receives (`output`). */
    convert(type: z.ZodType, direction: Direction): JsonSchema {
      const converted = z.toJSONSchema(type, {
        io: direction,
        unrepresentable: 'any',
        override: ({ zodSchema, jsonSchema }) => {
          delete jsonSchema.id
          // zod leaves it out where the value is converted, such as a number in a query string.
          if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue
          tidy(jsonSchema, direction)
        },
      })
      const text = JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')
      const { $schema: _schema, $defs = {}, ...root }: JsonSchema = JSON.parse(text)
      for (const [name, schema] of Object.entries($defs)) {
        const other = named.get(name)
        if (other && JSON.stringify(other) !== JSON.stringify(schema))
          throw new Error(`two schemas are named ${name}`)
        named.set(name, schema)
      }
      return root
    },
    /** Returns the components, by name. */
    components: (): Record<string, JsonSchema> =>
      Object.fromEntries([...named].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  }
}

export type Schemas = ReturnType<typeof createSchemas>
