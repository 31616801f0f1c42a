import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLString,
} from 'graphql'
import { json } from '../../json/json-writer.ts'
import { isPromise, type Run } from './response-buffer.ts'

/** What an operation of this kind, or what a resolver gave, is not made for. */
export class NotCompiled extends Error {}

export const refuse = (why: string): never => {
  throw new NotCompiled(why)
}

/** Writes what is answered of what a resolver gave. Throws where that is not as its type says. */
export type Write = (value: unknown, run: Run) => void

const writeSerialized = (type: GraphQLLeafType, value: unknown): void => {
  if (!json.value(type.serialize(value) ?? undefined)) refuse('a leaf without a value')
}

const writeString =
  (type: GraphQLLeafType): Write =>
  (value) => {
    if (typeof value === 'string') json.string(value)
    else if (value === null || value === undefined) json.null()
    else writeSerialized(type, value)
  }

const isInt = (value: number) => (value | 0) === value

const writeNumber =
  (type: GraphQLLeafType, isOne: (value: number) => boolean): Write =>
  (value) => {
    if (typeof value === 'number' && isOne(value)) json.number(value)
    else if (value === null || value === undefined) json.null()
    else writeSerialized(type, value)
  }

const writeBoolean: Write = (value) => {
  if (typeof value === 'boolean') json.boolean(value)
  else if (value === null || value === undefined) json.null()
  else writeSerialized(GraphQLBoolean, value)
}

const writeOther =
  (type: GraphQLLeafType): Write =>
  (value) => {
    if (value === null || value === undefined) json.null()
    else writeSerialized(type, value)
  }

/** The types of GraphQL itself are written as they are, without a call, where a value needs no serializing. */
export function writeLeaf(type: GraphQLLeafType): Write {
  if (type === GraphQLString || type === GraphQLID) return writeString(type)
  if (type === GraphQLInt) return writeNumber(type, isInt)
  if (type === GraphQLFloat) return writeNumber(type, Number.isFinite)
  return type === GraphQLBoolean ? writeBoolean : writeOther(type)
}

export const writeNonNull =
  (write: Write): Write =>
  (value, run) =>
    value === null || value === undefined ? refuse('null where there is none') : write(value, run)

export const writeList =
  (write: Write): Write =>
  (value, run) => {
    if (value === null || value === undefined) return json.null()
    if (!Array.isArray(value)) return refuse('a list that is none')
    json.list(value, (item) => (isPromise(item) ? refuse('a promise in a list') : write(item, run)))
  }
