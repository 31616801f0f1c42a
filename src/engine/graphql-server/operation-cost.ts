import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type ASTNode,
  type DocumentNode,
  type GraphQLError,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { tryParse } from '../base/parse.ts'
import { requestLimits } from '../base/request-limits.ts'
import { tooComplex } from './bounded-validation.ts'
import type { OperationSource } from './compiler/resolve-info.ts'

const { maxComplexity, maxDepth, maxBreadth } = requestLimits
const limit = { complexity: maxComplexity, depth: maxDepth, breadth: maxBreadth }

type Variables = Record<string, unknown>

const isSkipped = (node: SelectionNode, variables: Variables): boolean =>
  getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
  getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false

// The library counts what @skip and @include leave out. With a condition of null, what it stands in fails.
const withoutSkipped = (document: DocumentNode, variables: Variables): DocumentNode => {
  const leaveOut = (node: SelectionNode) =>
    (tryParse(() => isSkipped(node, variables)) ?? true) ? null : undefined
  return visit(document, { Field: leaveOut, FragmentSpread: leaveOut, InlineFragment: leaveOut })
}

// The library fails where arguments do, such as those with a variable of null. Such a field fails before it is resolved.
const withoutFailing = (document: DocumentNode, schema: GraphQLSchema, variables: Variables) => {
  const types = new TypeInfo(schema)
  return visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const field = types.getFieldDef()
        return field && !tryParse(() => getArgumentValues(field, node, variables)) ? null : undefined
      },
    }),
  )
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
    const costOf = (document: DocumentNode) => complexityFromQuery(document, { schema, variables })
    const cost = tryParse(() => costOf(measured)) ?? costOf(withoutFailing(measured, schema, coerced))
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
