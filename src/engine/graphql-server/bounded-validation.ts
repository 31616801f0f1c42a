import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import {
  __Schema,
  __Type,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type Source,
  specifiedRules,
  type ValidationContext,
  validate,
} from 'graphql'
import { requestLimits } from '../base/request-limits.ts'

const { maxAliases, maxFieldComparisons, maxGraphqlErrors, maxIntrospectedValues } = requestLimits

/** Finds a fragment that is to be followed. */
type FindFragment = (name: string) => FragmentDefinitionNode | null | undefined

/** Maps the fragments of a document by their names. */
export const fragmentsOf = ({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> =>
  new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  )

/** Lists the selections of an object, and those of its fragments, each fragment once; a spread comes before them. */
export function* selectionsOf(
  { selections }: SelectionSetNode,
  findFragment: FindFragment,
  spread = new Set<string>(),
): Generator<SelectionNode> {
  for (const selection of selections) {
    yield selection
    if (selection.kind === Kind.INLINE_FRAGMENT)
      yield* selectionsOf(selection.selectionSet, findFragment, spread)
    if (selection.kind !== Kind.FRAGMENT_SPREAD || spread.has(selection.name.value)) continue
    spread.add(selection.name.value)
    const fragment = findFragment(selection.name.value)
    if (fragment) yield* selectionsOf(fragment.selectionSet, findFragment, spread)
  }
}

/** A selection below a field, and the fragments that lead to it. */
type Selected = { set: SelectionSetNode; inside: readonly string[] }

/** Counts the pairs that GraphQL's rule about fields that can be merged compares: at each level every two fields of
 *  the same name, those in fragments too, and every two fragments. 400 times one field are 160,000, which take a fifth
 *  of a second. Stops above the limit. Skips fragment cycles, which another rule refuses. */
function countComparisons(set: SelectionSetNode, findFragment: FindFragment): number {
  let compared = 0

  function compareLevel(level: readonly Selected[]): void {
    const byName = new Map<string, { count: number; below: Selected[] }>()
    const spread = new Set<string>()
    const collect = ({ set, inside }: Selected): void => {
      for (const selection of set.selections) {
        if (compared > maxFieldComparisons) return
        if (selection.kind === Kind.INLINE_FRAGMENT) collect({ set: selection.selectionSet, inside })
        else if (selection.kind === Kind.FIELD) {
          const name = selection.alias?.value ?? selection.name.value
          const found = byName.get(name) ?? { count: 0, below: [] }
          byName.set(name, found)
          compared += found.count++
          if (selection.selectionSet) found.below.push({ set: selection.selectionSet, inside })
        } else {
          const name = selection.name.value
          if (spread.has(name) || inside.includes(name)) continue
          compared += spread.size
          spread.add(name)
          const fragment = findFragment(name)
          if (fragment) collect({ set: fragment.selectionSet, inside: [...inside, name] })
        }
      }
    }
    for (const selected of level) collect(selected)
    for (const { below } of byName.values()) {
      compared++
      if (compared > maxFieldComparisons) return
      if (below.length > 0) compareLevel(below)
    }
  }

  compareLevel([{ set, inside: [] }])
  return compared
}

const excess = 'The query is too complex'

/** Creates the error for an exceeded limit. */
export const tooComplex = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COMPLEX' } })

// Validation rule that limits the number of values in an introspection response. The complexity limit does
// not apply to introspection, and the whole schema under several aliases is megabytes. Walks the response
// that would be sent, and stops at the limit.
function introspectionBound(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema()
  let values = 0

  // Fields of a selection, up to the limit.
  function* fieldsOf(set: SelectionSetNode): Generator<FieldNode> {
    for (const selection of selectionsOf(set, (name) => context.getFragment(name))) {
      if (++values > maxIntrospectedValues) return
      if (selection.kind === Kind.FIELD) yield selection
    }
  }

  // Follows each field by the resolver of graphql-js, deprecated members included.
  function describe(type: GraphQLOutputType, described: unknown, selectionSet?: SelectionSetNode): void {
    if (!selectionSet || !isObjectType(type)) return
    for (const { name, selectionSet: inside } of fieldsOf(selectionSet)) {
      const field = type.getFields()[name.value]
      if (!inside || !field) continue
      const info = { schema } as GraphQLResolveInfo
      const found = field.resolve?.(described, { includeDeprecated: true }, null, info)
      for (const child of [found].flat()) if (child) describe(getNamedType(field.type), child, inside)
    }
  }

  function describeRoot({ name, arguments: given, selectionSet }: FieldNode): void {
    if (name.value === '__schema') describe(__Schema, schema, selectionSet)
    if (name.value !== '__type') return
    const argument = given?.[0]?.value
    // The largest type is assumed where the name is a variable.
    const type = argument?.kind === Kind.STRING ? schema.getType(argument.value) : schema.getQueryType()
    if (type) describe(__Type, type, selectionSet)
  }

  return {
    OperationDefinition({ selectionSet }) {
      values = 0
      for (const field of fieldsOf(selectionSet)) describeRoot(field)
      if (values > maxIntrospectedValues)
        context.reportError(
          tooComplex(`${excess}: introspection may answer with at most ${maxIntrospectedValues} values.`),
        )
      return false
    },
  }
}

// Validation rule that limits how often GraphQL's own rule compares fields.
function comparisonBound(context: ValidationContext): ASTVisitor {
  const check = (set: SelectionSetNode, findFragment: FindFragment) => {
    if (countComparisons(set, findFragment) > maxFieldComparisons)
      context.reportError(
        tooComplex(`${excess}: too many fields of one name, or fragments, at the same level.`),
      )
    return false
  }
  return {
    OperationDefinition: ({ selectionSet }) => check(selectionSet, (name) => context.getFragment(name)),
    FragmentDefinition: ({ selectionSet }) => check(selectionSet, () => undefined),
  }
}

// Validation rule that refuses conditions on the field of a subscription (GraphQL specification of September 2025,
// 5.2.4.1). The rule of graphql-js fails on them.
function unconditionalSubscription(context: ValidationContext): ASTVisitor {
  const isConditional = ({ directives }: SelectionNode) =>
    directives?.some(({ name }) => ['skip', 'include'].includes(name.value))
  return {
    OperationDefinition(node) {
      if (node.operation !== OperationTypeNode.SUBSCRIPTION) return false
      if ([...selectionsOf(node.selectionSet, (name) => context.getFragment(name))].some(isConditional))
        context.reportError(
          new GraphQLError("The field of a subscription can't be left out: remove @skip and @include.", {
            nodes: node,
          }),
        )
      return false
    },
  }
}

const countingRules = [
  maxAliasesRule({
    n: maxAliases,
    allowList: [],
    propagateOnRejection: false,
    onReject: [
      (context, { message }) => context?.reportError(tooComplex(message.replace('Syntax Error', excess))),
    ],
  }),
  comparisonBound,
  introspectionBound,
  unconditionalSubscription,
]

/** Validates a parsed document, and stops at the maximum number of errors. Counts aliases, comparisons and introspected
 *  values first, because the rules of GraphQL are slow on documents that exceed these limits. */
export function validateBounded(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const source: Partial<Source> = document.loc?.source ?? {}
  const { body } = source
  // Empty during validation. A GraphQLError computes line and column of each of its nodes by scanning the text from
  // the start, which takes seconds for a long document with many errors. The response computes them later, for a few
  // locations per error.
  source.body = ''
  try {
    const [excess] = validate(schema, document, countingRules)
    return excess ? [excess] : validate(schema, document, specifiedRules, { maxErrors: maxGraphqlErrors })
  } finally {
    source.body = body
  }
}
