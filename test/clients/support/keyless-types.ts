import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLObjectType, isObjectType } from 'graphql'

// Answers of one request: a cache reads them once, and never as a part of something else.
const passing = /(Payload|Connection|Edge|Error|Refused)$|^(Query|Mutation|Subscription|PageInfo)$|^__/

function keyless(): GraphQLObjectType[] {
  const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'))
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => !passing.test(type.name))
    .filter((type) => !type.getInterfaces().some(({ name }) => name === 'Node'))
}

/** Lists the types of the schema that are part of others and no nodes, in alphabetical order. */
export const keylessTypes = (): string[] =>
  keyless()
    .map(({ name }) => name)
    .sort()

/** Lists those of them that have an `id` nevertheless. */
export const keylessTypesWithId = (): string[] =>
  keyless()
    .filter((type) => 'id' in type.getFields())
    .map(({ name }) => name)
    .sort()
