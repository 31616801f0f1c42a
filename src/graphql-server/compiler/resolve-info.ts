import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql'
import { fallBack } from './complete-value.ts'
import type { Variables } from './response-buffer.ts'

/** The operation to compile. */
export type OperationSource = {
  schema: GraphQLSchema
  operation: OperationDefinitionNode
  fragments: Record<string, FragmentDefinitionNode>
  /** Values of the variables that @skip and @include read. */
  variables: Variables
}

/** All selections that share one response key. */
export type FieldGroup = {
  responseKey: string
  name: string
  parentType: GraphQLObjectType
  nodes: readonly FieldNode[]
}

/** Builds the info of a root field's resolver once, for all executions. It lacks the variable values, which
 *  differ from execution to execution. */
export const rootInfo = (
  { responseKey, name, parentType, nodes }: FieldGroup,
  returnType: GraphQLOutputType,
  { schema, operation, fragments }: OperationSource,
): Omit<GraphQLResolveInfo, 'variableValues'> => ({
  fieldName: name,
  fieldNodes: nodes,
  parentType,
  returnType,
  schema,
  operation,
  fragments,
  path: { prev: undefined, key: responseKey, typename: parentType.name },
  rootValue: undefined,
})

/** Builds the info of a resolver below the root once, for all executions. Its path lacks the fields above.
 *  Reading its variable values leaves the operation to graphql-js, which knows them. */
export const infoBelowRoot = (...field: Parameters<typeof rootInfo>): GraphQLResolveInfo => ({
  ...rootInfo(...field),
  get variableValues() {
    return fallBack('variable values below the root')
  },
})

export function toFieldGroup(
  responseKey: string,
  parentType: GraphQLObjectType,
  nodes: readonly FieldNode[],
): FieldGroup {
  // In an object literal `__proto__` sets the prototype instead of a property.
  if (responseKey === '__proto__') return fallBack('the response key __proto__')
  return { responseKey, name: nodes[0]?.name.value ?? '', parentType, nodes }
}
