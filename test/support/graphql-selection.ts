import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'

const fieldsOf = (type: GraphQLNamedType): GraphQLField<unknown, unknown>[] =>
  isObjectType(type) ? Object.values(type.getFields()) : []

// Keeps the cost of a checkout's payload below the complexity limit.
const maxDepth = 4

// Name in a response of a field beside one of the same name and another type.
const aliasOf = (type: GraphQLNamedType, { name }: { name: string }) => `${type.name}_${name}`

/** Selects every field of a type and its subtypes with `__typename`, at most four types deep, pages of two, and without
 *  returning to a type that is already on the path. `beside` are types that are selected at the same place: a field
 *  that has another type there has an alias. */
export function selectionOf(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  above: string[] = [],
  beside: readonly GraphQLObjectType[] = [],
): string {
  if (isAbstractType(type)) {
    const possible = schema.getPossibleTypes(type)
    const kinds = possible.map(
      (kind) => `... on ${kind.name} { ${selectionOf(schema, kind, above, possible)} }`,
    )
    return ['__typename', ...kinds].join(' ')
  }
  const conflicts = ({ name, type: own }: GraphQLField<unknown, unknown>) =>
    beside.some((other) => (other.getFields()[name]?.type ?? own).toString() !== own.toString())
  const path = [...above, type.name]
  const fields = fieldsOf(type)
    .filter(({ args }) => !args.some(isRequiredArgument))
    .flatMap((field) => {
      const named = getNamedType(field.type)
      const name = conflicts(field) ? `${aliasOf(type, field)}: ${field.name}` : field.name
      if (isLeafType(named)) return [name]
      if (path.includes(named.name) || path.length === maxDepth) return []
      // Whole pages within a page would be too complex.
      const page = field.args.some(({ name }) => name === 'first') ? '(first: 2)' : ''
      return [`${name}${page} { ${selectionOf(schema, named, path)} }`]
    })
  return ['__typename', ...fields].join(' ')
}

/** A field from one object to another, and its target in a response; `id` is null if there is none. */
export type Edge = { at: string; type: string; id: string | null }

type Fields = Record<string, unknown>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Collects the edges in response data. Its objects need `__typename`, and no aliases but those of
 *  `selectionOf`. */
export function edgesIn(schema: GraphQLSchema, value: unknown): Edge[] {
  if (Array.isArray(value)) return value.flatMap((item) => edgesIn(schema, item))
  if (!isFields(value)) return []
  const type = schema.getType(String(value.__typename))
  if (!type) return Object.values(value).flatMap((field) => edgesIn(schema, field))
  return fieldsOf(type)
    .filter((field) => isCompositeType(getNamedType(field.type)))
    .flatMap((field) => {
      const key = [field.name, aliasOf(type, field)].find((name) => name in value)
      if (key === undefined) return []
      const found = [value[key]].flat()
      const at = `${type.name}.${field.name}`
      const edges = found.map((target): Edge => {
        if (!isFields(target)) return { at, type: '', id: null }
        return { at, type: String(target.__typename), id: 'id' in target ? String(target.id) : null }
      })
      return [...edges, ...found.flatMap((target) => edgesIn(schema, target))]
    })
}
