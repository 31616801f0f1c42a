import { readFileSync } from 'node:fs'
import { buildSchema, isObjectType } from 'graphql'

// Answers of one request: a cache reads them once, and never as a part of something else.
const passing = /(Payload|Connection|Edge|Error|Refused)$|^(Query|Mutation|Subscription|PageInfo)$|^__/

/** Lists the types of the schema that are part of others and no nodes, in alphabetical order. */
export function keylessTypes(): string[] {
  const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'))
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => !passing.test(type.name))
    .filter((type) => !type.getInterfaces().some(({ name }) => name === 'Node'))
    .map(({ name }) => name)
    .sort()
}
