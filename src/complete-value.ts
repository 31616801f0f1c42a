import type { GraphQLLeafType } from 'graphql'

/** What an operation of this kind, or what a resolver gave, is not made for. */
export class NotCompiled extends Error {}

export const refuse = (why: string): never => {
  throw new NotCompiled(why)
}

export type Variables = Record<string, unknown>

/** One execution of an operation. */
export type Run = {
  context: unknown
  variables: Variables
  /** What resolvers have promised: each puts its answer in place by itself. */
  waiting: Promise<void>[]
}

/** Makes what is answered of what a resolver gave. Throws where that is not as its type says. */
export type Complete = (value: unknown, run: Run) => unknown

export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

export const completeLeaf =
  (type: GraphQLLeafType): Complete =>
  (value) =>
    value === null || value === undefined ? null : (type.serialize(value) ?? refuse('a leaf without a value'))

export const completeNonNull =
  (complete: Complete): Complete =>
  (value, run) =>
    complete(value, run) ?? refuse('null where there is none')

export const completeList =
  (complete: Complete): Complete =>
  (value, run) => {
    if (value === null || value === undefined) return null
    if (!Array.isArray(value)) return refuse('a list that is none')
    const items = new Array(value.length)
    for (let index = 0; index < items.length; index++) {
      const item: unknown = value[index]
      items[index] = isPromise(item) ? refuse('a promise in a list') : complete(item, run)
    }
    return items
  }
