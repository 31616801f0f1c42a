import { z } from 'zod'

/** JSON Schema, as far as the document uses it. */
export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  description?: string
  default?: unknown
  const?: unknown
  enum?: unknown[]
  minimum?: number
  maximum?: number
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  additionalProperties?: boolean | JsonSchema
}

type Direction = 'input' | 'output'

// Formats that say as much as the pattern that zod adds to them.
const formats = ['date', 'date-time', 'email', 'uri']

const isNull = (schema: JsonSchema) => schema.type === 'null' && Object.keys(schema).length === 1

// `T | null` as one schema, which generators and the documentation page show better than an alternative.
function joinNull({ anyOf, ...rest }: JsonSchema): JsonSchema {
  const [value, nothing, ...others] = anyOf ?? []
  const canJoin = value && nothing && isNull(nothing) && others.length === 0 && typeof value.type === 'string'
  if (!canJoin) return anyOf ? { ...rest, anyOf } : rest
  const values = value.enum && { enum: [...value.enum, null] }
  return { ...value, ...rest, type: [value.type, 'null'].flat() as string[], ...values }
}

function tidy(schema: JsonSchema, direction: Direction): JsonSchema {
  const below = (inner: JsonSchema) => tidy(inner, direction)
  const { $ref, format, pattern, minimum, maximum, properties, items, anyOf, ...rest } = schema
  const { additionalProperties, ...shown } = rest
  // Responses may get further fields, which clients ignore (DECISIONS 8).
  const isOpen = additionalProperties === undefined || (direction === 'output' && !additionalProperties)
  return joinNull({
    ...($ref && { $ref: $ref.replace('#/$defs/', '#/components/schemas/') }),
    ...shown,
    ...(format && { format }),
    ...(pattern && !(format && formats.includes(format)) && { pattern }),
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, below(field)])),
    }),
    ...(items && { items: below(items) }),
    ...(anyOf && { anyOf: anyOf.map(below) }),
    ...(!isOpen && {
      additionalProperties:
        typeof additionalProperties === 'object' ? below(additionalProperties) : additionalProperties,
    }),
  })
}

/** Converts zod schemas to JSON Schemas. Those with an `id` in their metadata become components of that name. */
export function createSchemas() {
  const named = new Map<string, JsonSchema>()

  function add(name: string, schema: JsonSchema): void {
    const other = named.get(name)
    if (other && JSON.stringify(other) !== JSON.stringify(schema))
      throw new Error(`two schemas are named ${name}`)
    named.set(name, schema)
  }

  return {
    /** Returns the schema of what a client sends (`input`) or receives (`output`). */
    convert(type: z.ZodType, direction: Direction): JsonSchema {
      const {
        $schema: _schema,
        $defs = {},
        ...root
      } = z.toJSONSchema(type, {
        io: direction,
        unrepresentable: 'any',
        override: ({ zodSchema, jsonSchema }) => {
          delete jsonSchema.id
          // zod leaves it out where the value is converted, such as a number in a query string.
          if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue
        },
      }) as JsonSchema & { $schema?: string; $defs?: Record<string, JsonSchema> }
      for (const [name, schema] of Object.entries($defs)) add(name, tidy(schema, direction))
      return tidy(root, direction)
    },
    /** Returns the components, by name. */
    components: (): Record<string, JsonSchema> =>
      Object.fromEntries([...named].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  }
}

export type Schemas = ReturnType<typeof createSchemas>
