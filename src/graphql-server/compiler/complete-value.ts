import {
  type GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLString,
  isEnumType,
} from 'graphql'
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

const serialize = (type: GraphQLLeafType, value: unknown): void => {
  if (value === null || value === undefined) json.null()
  else if (!json.value(type.serialize(value) ?? undefined)) fallBack('a leaf that serializes to nothing')
}

const completeString =
  (type: GraphQLLeafType): CompleteValue =>
  (value) => {
    if (typeof value === 'string') json.string(value)
    else serialize(type, value)
  }

const isInt = (value: number) => (value | 0) === value

const completeNumber =
  (type: GraphQLLeafType, isInRange: (value: number) => boolean): CompleteValue =>
  (value) => {
    if (typeof value === 'number' && isInRange(value)) json.number(value)
    else serialize(type, value)
  }

// Names are known, so each is written as a literal.
const completeEnum = (type: GraphQLEnumType): CompleteValue => {
  const literals = new Map(
    type.getValues().map(({ value, name }) => [value, Buffer.from(JSON.stringify(name))]),
  )
  return (value) => {
    const literal = literals.get(value)
    if (literal) json.raw(literal)
    else serialize(type, value)
  }
}

/** Completes scalars and enums. Texts and numbers skip `serialize` if the value already has the right type. */
export function completeLeaf(type: GraphQLLeafType): CompleteValue {
  if (type === GraphQLString || type === GraphQLID) return completeString(type)
  if (type === GraphQLInt) return completeNumber(type, isInt)
  if (type === GraphQLFloat) return completeNumber(type, Number.isFinite)
  if (isEnumType(type)) return completeEnum(type)
  return (value) => serialize(type, value)
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
