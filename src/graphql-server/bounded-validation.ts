import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { type DocumentNode, GraphQLError, validate } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { RequestLimits } from '../shared/request-limits.ts'
import { introspectionBound } from './introspection-bound.ts'

// An error looks for the line of every place that it names, from the beginning of the text, which in a long one with
// long errors takes seconds. So the rules see a text of one line; whoever tells an error looks for a few places.
function withoutLines<Result>({ loc }: DocumentNode, check: () => Result): Result {
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

/** What a limit says, as a client is told it. */
export const tooComplex = (message = ''): GraphQLError =>
  new GraphQLError(message.replace('Syntax Error', 'The query is too complex'), {
    extensions: { code: 'QUERY_TOO_COMPLEX' },
  })

/** Validates until there are as many errors as are told of. What only counts comes first: the rules of GraphQL take
 *  their time with what is refused anyway. */
export function boundedValidation(limits: RequestLimits): Plugin {
  const counting = [
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
        withoutLines(document, () => {
          const [excess] = validate(schema, document, counting)
          return excess ? [excess] : validate(schema, document, rules, { maxErrors: limits.maxGraphqlErrors })
        }),
      )
    },
  }
}
