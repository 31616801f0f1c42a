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

/** Builds the info of a resolver once, for all executions. It therefore lacks the full path, and below the
 *  root the variable values: those differ from execution to execution. */
export function buildResolveInfo(
  { responseKey, name, parentType, nodes }: FieldGroup,
  returnType: GraphQLOutputType,
  { schema, operation, fragments }: OperationSource,
): GraphQLResolveInfo {
  return {
    fieldName: name,
    fieldNodes: nodes,
    parentType,
    returnType,
    schema,
    operation,
    fragments,
    path: { prev: undefined, key: responseKey, typename: parentType.name },
    rootValue: undefined,
    variableValues: {},
  }
}

export function toFieldGroup(
  responseKey: string,
  parentType: GraphQLObjectType,
  nodes: readonly FieldNode[],
): FieldGroup {
  // In an object literal `__proto__` sets the prototype instead of a property.
  if (responseKey === '__proto__') return fallBack('the response key __proto__')
  return { responseKey, name: nodes[0]?.name.value ?? '', parentType, nodes }
}
