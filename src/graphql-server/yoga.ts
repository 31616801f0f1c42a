import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { Log } from '../http/mask-error.ts'
import type { Context } from '../request/context.ts'
import type { RequestLimits } from '../shared/request-limits.ts'
import { boundedValidation, tooComplex } from './bounded-validation.ts'
import { type CompilerContext, compiledExecution } from './compiler/plugin.ts'
import { toClientError } from './errors.ts'
import { graphqlPath } from './params.ts'
import type { PreparedDocuments } from './prepared-document.ts'
import { reuseDocuments } from './reuse-documents.ts'
import { schema } from './schema.ts'

/** Context that the HTTP server passes to Yoga with each request. */
export type ServerContext = CompilerContext & {
  requestId: string
  log: Log
  ctx: Context
  /** Called if the result contains errors. */
  onErrors(): void
}

const clientErrors = (limits: RequestLimits): Plugin<Context, ServerContext> => ({
  onResultProcess({ result, setResult, serverContext }) {
    if (Array.isArray(result) || !('errors' in result) || !result.errors?.length) return
    serverContext.onErrors()
    const isWhole = !('data' in result)
    setResult({
      ...result,
      errors: result.errors
        .slice(0, limits.maxErrors)
        .map((error) => toClientError(error, isWhole, serverContext)),
    })
  },
})

/** Creates the GraphQL server: schema, limits, errors. */
export const createGateway = (limits: RequestLimits, documents: PreparedDocuments) =>
  createYoga<ServerContext, Context>({
    schema,
    context: ({ ctx }) => ctx,
    graphqlEndpoint: graphqlPath,
    // Features that the HTTP server provides, or that are not wanted.
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    logging: false,
    maskedErrors: false,
    maxRequestBodySize: limits.maxBodyBytes,
    parserAndValidationCache: false,
    plugins: [
      compiledExecution(limits.maxGraphqlErrors),
      clientErrors(limits),
      reuseDocuments(documents),
      boundedValidation(limits),
      maxTokensPlugin({
        n: limits.maxDocumentTokens,
        propagateOnRejection: false,
        onReject: [
          (_ctx, error) => {
            throw tooComplex(error?.message)
          },
        ],
      }),
    ],
  })
