import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases'
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import { GraphQLError } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { type Asked, compiledExecution } from './compiled-execution.ts'
import type { Context } from './context.ts'
import { toClientError } from './graphql-errors.ts'
import { bodyLimit, graphqlPath } from './graphql-params.ts'
import type { Log } from './mask.ts'
import { schema } from './schema.ts'

/** What the HTTP server gives Yoga with each request. */
export type ServerContext = Asked & {
  requestId: string
  log: Log
  ctx: Context
  /** Told when there are errors in the answer. */
  onErrors(): void
}

const clientErrors: Plugin<Context, ServerContext> = {
  onResultProcess({ result, setResult, serverContext }) {
    if (Array.isArray(result) || !('errors' in result) || !result.errors?.length) return
    serverContext.onErrors()
    const isWhole = !('data' in result)
    setResult({
      ...result,
      errors: result.errors.map((error) => toClientError(error, isWhole, serverContext)),
    })
  },
}

const tooComplex = (message = '') =>
  new GraphQLError(message.replace('Syntax Error', 'The query is too complex'), {
    extensions: { code: 'QUERY_TOO_COMPLEX' },
  })

/** The GraphQL server: schema, limits, errors. It reads no environment and opens nothing. */
export const createGateway = () =>
  createYoga<ServerContext, Context>({
    schema,
    context: ({ ctx }) => ctx,
    graphqlEndpoint: graphqlPath,
    // The HTTP server around it does these, or nobody does.
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    logging: false,
    maskedErrors: false,
    maxRequestBodySize: bodyLimit,
    plugins: [
      compiledExecution(),
      clientErrors,
      maxTokensPlugin({
        n: 2000,
        propagateOnRejection: false,
        onReject: [
          (_ctx, error) => {
            throw tooComplex(error?.message)
          },
        ],
      }),
      maxAliasesPlugin({
        n: 30,
        propagateOnRejection: false,
        onReject: [(ctx, error) => ctx?.reportError(tooComplex(error.message))],
      }),
    ],
  })
