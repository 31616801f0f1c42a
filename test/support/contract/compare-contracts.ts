import { buildSchema, findBreakingChanges, type GraphQLSchema } from 'graphql'

/** Lists the changes from one schema to another that break a client of the first. */
export const breakingSchemaChanges = (before: string, after: GraphQLSchema): string[] =>
  findBreakingChanges(buildSchema(before), after).map(({ description }) => description)

/** A breaking change that is intended, and why. */
export type IntendedChange = { change: string; reason: string }

/** Lists what is wrong with the changes of a contract: those that nobody intended, and intended ones that are
 *  not there or have no reason. */
export function unintended(changes: string[], intended: IntendedChange[]): string[] {
  const named = new Set(intended.map(({ change }) => change))
  return [
    ...changes.filter((change) => !named.has(change)).map((change) => `breaks clients: ${change}`),
    ...intended
      .filter(({ change }) => !changes.includes(change))
      .map(({ change }) => `is intended, but was not made: ${change}`),
    ...intended.filter(({ reason }) => !reason?.trim()).map(({ change }) => `has no reason: ${change}`),
  ]
}
