import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { type DocumentNode, GraphQLError, validate } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { RequestLimits } from '../shared/request-limits.ts'
import { introspectionBound } from './introspection-bound.ts'

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

/** Creates the error for an exceeded limit, from the message of the rule that found it. */
export const tooComplex = (message = ''): GraphQLError =>
  new GraphQLError(message.replace('Syntax Error', 'The query is too complex'), {
    extensions: { code: 'QUERY_TOO_COMPLEX' },
  })

/** Validates documents, and stops at the maximum number of errors. Counts aliases and introspected values
 *  first, because the rules of GraphQL are slow on documents that exceed these limits. */
export function boundedValidation(limits: RequestLimits): Plugin {
  const countingRules = [
    maxAliasesRule({
      n: limits.maxAliases,
      propagateOnRejection: false,
      onReject: [(context, error) => context?.reportError(tooComplex(error.message))],
    }),
    introspectionBound(limits.maxIntrospectedValues),
  ]
  return {
    onValidate({ setValidationFn }) {
      setValidationFn((schema, document, rules) =>
        withoutSourceText(document, () => {
          const [excess] = validate(schema, document, countingRules)
          return excess ? [excess] : validate(schema, document, rules, { maxErrors: limits.maxGraphqlErrors })
        }),
      )
    },
  }
}
