import { GraphQLFloat, GraphQLID, GraphQLInt, type GraphQLLeafType, GraphQLString, isEnumType } from 'graphql'
import { json } from '../../json/json-writer.ts'
import { isPromise, type ResponseBuffer } from './response-buffer.ts'

/** Thrown for an operation or a resolved value that the compiler does not support: graphql-js takes over. */
export class NotCompiled extends Error {}

export const fallBack = (reason: string): never => {
  throw new NotCompiled(reason)
}

/** Writes the completed form of a resolved value (CompleteValue in the specification). Throws if the value
 *  does not match its type. */
export type CompleteValue = (value: unknown, response: ResponseBuffer) => void

const isInt = (value: number) => (value | 0) === value

/** Completes scalars and enums. Texts and numbers skip `serialize` if the value already has the right type. */
export function completeLeaf(type: GraphQLLeafType): CompleteValue {
  const serialize = (value: unknown): void => {
    if (value === null || value === undefined) json.null()
    else if (!json.value(type.serialize(value) ?? undefined)) fallBack('a leaf that serializes to nothing')
  }
  if (type === GraphQLString || type === GraphQLID || type.extensions.isText)
    return (value) => (typeof value === 'string' ? json.string(value) : serialize(value))
  if (type === GraphQLInt || type === GraphQLFloat) {
    const isInRange = type === GraphQLInt ? isInt : Number.isFinite
    return (value) => (typeof value === 'number' && isInRange(value) ? json.number(value) : serialize(value))
  }
  if (!isEnumType(type)) return serialize
  // Names are known, so each is written as a literal.
  const literals = new Map(
    type.getValues().map(({ value, name }) => [value, Buffer.from(JSON.stringify(name))]),
  )
  return (value) => {
    const literal = literals.get(value)
    if (literal) json.raw(literal)
    else serialize(value)
  }
}

export const completeNonNull =
  (completeValue: CompleteValue): CompleteValue =>
  (value, response) =>
    value === null || value === undefined
      ? fallBack('null for a non-null type')
      : completeValue(value, response)

export const completeList =
  (completeItem: CompleteValue): CompleteValue =>
  (value, response) => {
    if (value === null || value === undefined) return json.null()
    if (!Array.isArray(value)) return fallBack('a list that is not an array')
    json.list(value, (item) =>
      isPromise(item) ? fallBack('a promise in a list') : completeItem(item, response),
    )
  }
