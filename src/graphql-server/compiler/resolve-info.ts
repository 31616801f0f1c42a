import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql'
import { refuse } from './complete-value.ts'
import type { Variables } from './response-buffer.ts'

/** An operation as a request asks for it. */
export type AskedOperation = {
  schema: GraphQLSchema
  operation: OperationDefinitionNode
  fragments: Record<string, FragmentDefinitionNode>
  /** Those that decide what is included. */
  variables: Variables
}

/** What is selected under one name. */
export type Field = { key: string; name: string; parentType: GraphQLObjectType; nodes: readonly FieldNode[] }

/** What a resolver is told. Below the root that is neither the variables nor the whole path, which differ each time. */
export function infoOf(
  { key, name, parentType, nodes }: Field,
  returnType: GraphQLOutputType,
  of: AskedOperation,
): GraphQLResolveInfo {
  const { schema, operation, fragments } = of
  const path = { prev: undefined, key, typename: parentType.name }
  const told = {
    fieldName: name,
    fieldNodes: nodes,
    parentType,
    returnType,
    schema,
    operation,
    fragments,
    path,
  }
  return { ...told, rootValue: undefined, variableValues: {} }
}

export function fieldOf(key: string, parentType: GraphQLObjectType, nodes: readonly FieldNode[]): Field {
  // In an object literal this name would be no property.
  if (key === '__proto__') return refuse('a name that means something else')
  const name = nodes[0]?.name.value ?? ''
  return { key, name, parentType, nodes }
}
