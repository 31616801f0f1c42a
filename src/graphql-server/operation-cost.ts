import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  GraphQLError,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  getVariableValues,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { requestLimits } from '../shared/request-limits.ts'

const { maxComplexity, maxDepth, maxBreadth } = requestLimits
const limit = { complexity: maxComplexity, depth: maxDepth, breadth: maxBreadth }

// The library measures the first operation of a document.
const alone = (
  { definitions, ...document }: DocumentNode,
  operation: OperationDefinitionNode,
): DocumentNode => ({
  ...document,
  definitions: [operation, ...definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)],
})

type Variables = Record<string, unknown>

const isSkipped = (node: FieldNode | FragmentSpreadNode | InlineFragmentNode, variables: Variables) =>
  getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
  getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false

// The library counts what @skip and @include leave out.
const withoutSkipped = (document: DocumentNode, variables: Variables): DocumentNode => {
  const leaveOut = (node: FieldNode | FragmentSpreadNode | InlineFragmentNode) =>
    isSkipped(node, variables) ? null : undefined
  return visit(document, { Field: leaveOut, FragmentSpread: leaveOut, InlineFragment: leaveOut })
}

const hasDirectives = (document: DocumentNode): boolean => {
  let found = false
  visit(document, {
    Directive() {
      found = true
    },
  })
  return found
}

/** Cost of an operation, and the error if it is too complex. */
export type Cost = { complexity: number; excess: GraphQLError | null }

/** Called with the complexity of an operation. */
export type OnCost = (complexity: number) => void

/** Measures operations of a document before they are executed. The returned function takes valid variables. An
 *  operation that is too complex with them is QUERY_TOO_COMPLEX. */
export function costCheck(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
  const whole = alone(document, operation)
  const coerce = (variables: Variables) =>
    getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors: 1 }).coerced ?? {}
  const measuredWith = hasDirectives(whole)
    ? (variables: Variables) => withoutSkipped(whole, coerce(variables))
    : () => whole
  return (variables: Variables): Cost => {
    const cost = complexityFromQuery(measuredWith(variables), { schema, variables })
    const { complexity, depth, breadth } = cost
    const kind = (['depth', 'breadth', 'complexity'] as const).find((kind) => cost[kind] > limit[kind])
    if (!kind) return { complexity, excess: null }
    const excess = new GraphQLError(
      `The query is too complex (${kind}): complexity ${complexity} of ${limit.complexity}, depth ${depth} of ${limit.depth}, breadth ${breadth} of ${limit.breadth}.`,
      { extensions: { code: 'QUERY_TOO_COMPLEX' } },
    )
    return { complexity, excess }
  }
}
