import {
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql'
import { problemCodes } from '../../../src/domain/contract/problem-codes.ts'

// Validates a response against its operation: exactly the selected fields, each value of its type.

type Fields = Record<string, unknown>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMoment = (value: unknown) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value))

const scalars: Record<string, (value: unknown) => boolean> = {
  ID: (value) => typeof value === 'string' && value !== '',
  String: (value) => typeof value === 'string',
  Int: (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  Float: (value) => Number.isFinite(value),
  Boolean: (value) => typeof value === 'boolean',
  DateTime: isMoment,
  Date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  Decimal: (value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value),
  CurrencyCode: (value) => typeof value === 'string' && /^[A-Z]{3}$/.test(value),
  JSON: isFields,
}

type Selected = { name: string; sets: SelectionSetNode[] }
type Asked = { schema: GraphQLSchema; fragments: Map<string, FragmentDefinitionNode>; variables: Fields }

/** Collects the response keys that a selection has for objects of a type. */
function collect(
  asked: Asked,
  type: GraphQLNamedType,
  sets: SelectionSetNode[],
  into = new Map<string, Selected>(),
) {
  const isLeftOut = (directives: SelectionSetNode['selections'][number]['directives']) =>
    (directives ?? []).some(({ name, arguments: args = [] }) => {
      const [condition] = args
      if (!condition) return false
      const { value } = condition
      const given =
        value.kind === Kind.VARIABLE
          ? asked.variables[value.name.value]
          : value.kind === Kind.BOOLEAN && value.value
      return given === (name.value === 'skip')
    })
  for (const selection of sets.flatMap(({ selections }) => selections)) {
    if (isLeftOut(selection.directives)) continue
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value
      const known = into.get(key) ?? { name: selection.name.value, sets: [] }
      if (selection.selectionSet) known.sets.push(selection.selectionSet)
      into.set(key, known)
      continue
    }
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT ? selection : asked.fragments.get(selection.name.value)
    const on = fragment?.typeCondition?.name.value ?? type.name
    if (fragment && on === type.name) collect(asked, type, [fragment.selectionSet], into)
  }
  return into
}

function valueMistakes(
  asked: Asked,
  type: GraphQLOutputType,
  value: unknown,
  sets: SelectionSetNode[],
  at: string,
): string[] {
  if (isNonNullType(type))
    return value === null ? [`${at} is null`] : valueMistakes(asked, type.ofType, value, sets, at)
  if (value === null) return []
  if (isListType(type)) {
    if (!Array.isArray(value)) return [`${at} is no list`]
    return value.flatMap((item, index) => valueMistakes(asked, type.ofType, item, sets, `${at}.${index}`))
  }
  if (isEnumType(type)) return type.getValue(String(value)) ? [] : [`${at} is no ${type.name}`]
  if (isLeafType(type))
    return scalars[type.name]?.(value) ? [] : [`${at} is no ${type.name}: ${JSON.stringify(value)}`]
  if (!isFields(value)) return [`${at} is no object`]
  const actual = isObjectType(type) ? type : asked.schema.getType(String(value.__typename))
  const possible = isObjectType(type) ? [type] : asked.schema.getPossibleTypes(type)
  if (!isObjectType(actual) || !possible.includes(actual)) return [`${at} is no ${type.name}`]
  return objectMistakes(asked, actual, value, sets, at)
}

function objectMistakes(
  asked: Asked,
  type: GraphQLNamedType,
  value: Fields,
  sets: SelectionSetNode[],
  at: string,
): string[] {
  const selected = collect(asked, type, sets)
  const keys = Object.keys(value)
  const wrong = [
    ...keys.filter((key) => !selected.has(key)).map((key) => `${at}.${key} was not asked for`),
    ...[...selected.keys()].filter((key) => !keys.includes(key)).map((key) => `${at}.${key} is missing`),
  ]
  const below = [...selected].flatMap(([key, { name, sets }]) => {
    if (name === '__typename') return value[key] === type.name ? [] : [`${at}.${key} is no ${type.name}`]
    const field = isObjectType(type) ? type.getFields()[name] : undefined
    if (!field || !(key in value)) return []
    return valueMistakes(asked, field.type, value[key], sets, `${at}.${key}`)
  })
  return [...wrong, ...below]
}

function errorMistakes(error: unknown, data: unknown): string[] {
  if (!isFields(error) || !isFields(error.extensions)) return ['an error that is none']
  const { message, extensions, path } = error
  const { code, request_id } = extensions
  const reached = Array.isArray(path)
    ? path.reduce<unknown>(
        (value, key) => (value === null || value === undefined ? null : (value as Fields)[key]),
        data,
      )
    : null
  return [
    ...(typeof message === 'string' && message !== '' ? [] : ['an error without a message']),
    ...(typeof code === 'string' && code in problemCodes && code !== 'INTERNAL' ? [] : [`an error ${code}`]),
    ...(typeof request_id === 'string' ? [] : ['an error without the id of its request']),
    ...(reached === null || reached === undefined ? [] : [`an error at ${path}, where there is a value`]),
  ]
}

/** Lists what is wrong with a response. A response without data must have an error. */
export function findAnswerMistakes(
  schema: GraphQLSchema,
  { query, variables }: { query: string; variables: Fields },
  answer: unknown,
): string[] {
  if (!isFields(answer)) return ['an answer that is no object']
  const { data, errors = [], ...more } = answer
  const strange = Object.keys(more).map((key) => `${key} beside data and errors`)
  if (!Array.isArray(errors)) return ['errors that are no list']
  const mistakes = errors.flatMap((error) => errorMistakes(error, data))
  if (data === undefined || data === null)
    return [...strange, ...mistakes, ...(errors.length > 0 ? [] : ['neither data nor an error'])]
  const { definitions } = parse(query)
  const fragments = new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  )
  const operation = definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  const root = operation && schema.getRootType(operation.operation)
  if (!operation || !root || !isFields(data)) return [...strange, 'data of no operation']
  return [
    ...strange,
    ...mistakes,
    ...objectMistakes({ schema, fragments, variables }, root, data, [operation.selectionSet], 'data'),
  ]
}
