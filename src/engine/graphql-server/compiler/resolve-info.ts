import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type OperationDefinitionNode,
  TypeNameMetaFieldDef,
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

/** All selections that share one response key, and the field that they select. */
export type FieldGroup = {
  responseKey: string
  parentType: GraphQLObjectType
  nodes: readonly [FieldNode, ...FieldNode[]]
  definition: GraphQLField<unknown, unknown>
}

/** Builds the info of a root field's resolver once, for all executions. It lacks the variable values, which
 *  differ from execution to execution. */
export const rootInfo = (
  { responseKey, parentType, nodes, definition }: FieldGroup,
  { schema, operation, fragments }: OperationSource,
): Omit<GraphQLResolveInfo, 'variableValues'> => ({
  fieldName: definition.name,
  fieldNodes: nodes,
  parentType,
  returnType: definition.type,
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

/** Lists what was collected for an object. Throws NotCompiled for introspection. */
export const toFieldGroups = (
  collected: ReadonlyMap<string, readonly FieldNode[]>,
  parentType: GraphQLObjectType,
): FieldGroup[] =>
  [...collected].map(([responseKey, nodes]) => {
    const [node, ...others] = nodes
    if (!node) return fallBack('a response key without a field')
    const name = node.name.value
    const definition =
      name === TypeNameMetaFieldDef.name ? TypeNameMetaFieldDef : parentType.getFields()[name]
    if (!definition) return fallBack('an introspection field')
    return { responseKey, parentType, nodes: [node, ...others], definition }
  })
