import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import {
  __Schema,
  __Type,
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { requestLimits } from '../shared/request-limits.ts'

const { maxAliases, maxGraphqlErrors, maxIntrospectedValues } = requestLimits

/** Creates the error for an exceeded limit, from the message of the rule that found it. */
export const tooComplex = (message = ''): GraphQLError =>
  new GraphQLError(message.replace('Syntax Error', 'The query is too complex'), {
    extensions: { code: 'QUERY_TOO_COMPLEX' },
  })

const exceeded = Symbol('too many values')

// Validation rule that limits the number of values in an introspection response. The complexity limit does
// not apply to introspection, and the whole schema under several aliases is megabytes. Walks the response
// that would be sent, and stops at the limit.
function introspectionBound(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema()
  // Assumed for `__type` whose name is a variable.
  const largest = schema.getQueryType()
  let values = 0

  // Calls `visit` for each field, fragments included. Skips fragment cycles, which another rule refuses.
  function eachField(
    { selections }: SelectionSetNode,
    spread: readonly string[],
    visit: (name: string, selectionSet: SelectionSetNode | undefined, argument: string | null) => void,
  ): void {
    for (const selection of selections) {
      if (++values > maxIntrospectedValues) throw exceeded
      if (selection.kind === Kind.FIELD) {
        const value = selection.arguments?.[0]?.value
        const argument = value?.kind === Kind.STRING ? value.value : null
        visit(selection.name.value, selection.selectionSet, argument)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) eachField(selection.selectionSet, spread, visit)
      else {
        const name = selection.name.value
        const fragment = spread.includes(name) ? null : context.getFragment(name)
        if (fragment) eachField(fragment.selectionSet, [...spread, name], visit)
      }
    }
  }

  // Follows each field by the resolver of graphql-js, deprecated members included.
  function describe(type: GraphQLOutputType, described: unknown, selectionSet?: SelectionSetNode): void {
    if (!selectionSet || !isObjectType(type)) return
    eachField(selectionSet, [], (name, inside) => {
      const field = type.getFields()[name]
      if (!inside || !field) return
      const info = { schema } as GraphQLResolveInfo
      const found = field.resolve?.(described, { includeDeprecated: true }, null, info)
      for (const child of [found].flat()) if (child) describe(getNamedType(field.type), child, inside)
    })
  }

  return {
    OperationDefinition({ selectionSet }) {
      values = 0
      try {
        eachField(selectionSet, [], (name, inside, argument) => {
          if (name === '__schema') describe(__Schema, schema, inside)
          const type = name === '__type' && (argument === null ? largest : schema.getType(argument))
          if (type) describe(__Type, type, inside)
        })
      } catch (error) {
        if (error !== exceeded) throw error
        context.reportError(
          tooComplex(
            `The query is too complex: introspection may answer with at most ${maxIntrospectedValues} values.`,
          ),
        )
      }
      return false
    },
  }
}

const countingRules = [
  maxAliasesRule({
    n: maxAliases,
    propagateOnRejection: false,
    onReject: [(context, error) => context?.reportError(tooComplex(error.message))],
  }),
  introspectionBound,
]

// Empties the source text during validation. A GraphQLError computes line and column of each of its nodes by
// scanning the text from the start, which takes seconds for a long document with many errors. The response
// computes them later, for a few locations per error.
function withoutSourceText<Result>({ loc }: DocumentNode, check: () => Result): Result {
  if (!loc) return check()
  const { source } = loc
  const { body } = source
  source.body = ''
  try {
    return check()
  } finally {
    source.body = body
  }
}

/** Validates a document, and stops at the maximum number of errors. */
export const validateBounded = (
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
): readonly GraphQLError[] =>
  withoutSourceText(document, () => {
    const [excess] = validate(schema, document, countingRules)
    return excess ? [excess] : validate(schema, document, rules, { maxErrors: maxGraphqlErrors })
  })

/** Validates documents, and stops at the maximum number of errors. Counts aliases and introspected values
 *  first, because the rules of GraphQL are slow on documents that exceed these limits. */
export const boundedValidation: Plugin = {
  onValidate({ setValidationFn }) {
    setValidationFn(validateBounded)
  },
}
