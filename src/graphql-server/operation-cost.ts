import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { requestLimits } from '../shared/request-limits.ts'
import { tooComplex } from './bounded-validation.ts'
import type { OperationSource } from './compiler/resolve-info.ts'

const { maxComplexity, maxDepth, maxBreadth } = requestLimits
const limit = { complexity: maxComplexity, depth: maxDepth, breadth: maxBreadth }

type Variables = Record<string, unknown>

// The library counts what @skip and @include leave out.
const withoutSkipped = (document: DocumentNode, variables: Variables): DocumentNode => {
  const leaveOut = (node: SelectionNode) =>
    getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false
      ? null
      : undefined
  return visit(document, { Field: leaveOut, FragmentSpread: leaveOut, InlineFragment: leaveOut })
}

/** Cost of an operation, and the error if it is too complex. */
export type Cost = { complexity: number; excess: GraphQLError | null }

/** Told the complexity of an operation once it is measured, by which `refuse` may refuse it. */
export type Measured = { cost?: number; refuse?: (cost: number) => GraphQLError | null }

/** Measures an operation before it is executed: once, if its cost is the same for all variables. The returned function
 *  takes valid variables, as given and coerced. An operation that is too complex with them is QUERY_TOO_COMPLEX. */
export function costCheck({ schema, operation, fragments }: Omit<OperationSource, 'variables'>) {
  // The library measures the first operation of a document.
  const definitions = [operation, ...Object.values(fragments)]
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions }
  const types = new TypeInfo(schema)
  let hasDirectives = false
  let hasFixedCost = true
  const findVariables = (node: ASTNode) =>
    visit(node, {
      Variable() {
        hasFixedCost = false
      },
    })
  visit(
    document,
    visitWithTypeInfo(types, {
      Directive(directive) {
        hasDirectives = true
        findVariables(directive)
      },
      Argument(argument) {
        if (typeof types.getFieldDef()?.extensions.complexity === 'function') findVariables(argument)
      },
    }),
  )
  const measure = (variables: Variables, coerced: Variables): Cost => {
    const measured = hasDirectives ? withoutSkipped(document, coerced) : document
    const cost = complexityFromQuery(measured, { schema, variables })
    const { complexity, depth, breadth } = cost
    const kind = (['depth', 'breadth', 'complexity'] as const).find((kind) => cost[kind] > limit[kind])
    if (!kind) return { complexity, excess: null }
    const excess = tooComplex(
      `The query is too complex (${kind}): complexity ${complexity} of ${limit.complexity}, depth ${depth} of ${limit.depth}, breadth ${breadth} of ${limit.breadth}.`,
    )
    return { complexity, excess }
  }
  let fixed: Cost | undefined
  return (variables: Variables, coerced: Variables): Cost => {
    const cost = fixed ?? measure(variables, coerced)
    if (hasFixedCost) fixed = cost
    return cost
  }
}
