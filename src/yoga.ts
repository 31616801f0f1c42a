import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases'
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { readCredentials } from './access/authenticate.ts'
import { type Context, createContext, type House } from './context.ts'
import { type Problem, statusOf } from './errors.ts'
import { type Log, toRefusal } from './mask.ts'
import { schema } from './schema.ts'

export const bodyLimit = 256 * 1024

/** What the HTTP server gives Yoga with each request. */
export type ServerContext = {
  requestId: string
  headers: Record<string, string | string[] | undefined>
  log: Log
}

const toExtensions = ({ code, path, facts }: Problem, requestId: string) => ({
  code,
  path: path?.join('.'),
  ...facts,
  request_id: requestId,
})

// What graphql-js and the limits themselves say of a document or its variables is the client's to read.
function originOf(error: GraphQLError): unknown {
  const { originalError } = error
  return originalError instanceof GraphQLError ? originOf(originalError) : originalError
}

function toClientError(
  error: GraphQLError,
  isWhole: boolean,
  { requestId, log }: ServerContext,
): GraphQLError {
  const origin = originOf(error)
  const { nodes, source, positions, path } = error
  if (!origin) {
    const extensions = { code: 'BAD_REQUEST', ...error.extensions, request_id: requestId }
    return new GraphQLError(error.message, { nodes, source, positions, path, extensions })
  }
  const [first, ...rest] = toRefusal(origin, requestId, log).problems
  const extensions = {
    ...toExtensions(first, requestId),
    ...(rest.length > 0 && {
      errors: [first, ...rest].map((problem) => ({
        message: problem.message,
        ...toExtensions(problem, requestId),
      })),
    }),
    // A status of its own only where the whole request failed: one failed field must not turn the rest into an error.
    ...(isWhole && { http: { status: statusOf[first.code] } }),
  }
  return new GraphQLError(first.message, { nodes, source, positions, path, extensions })
}

/** The error of a request that never reached Yoga, in GraphQL's shape. */
export const toErrorResult = (
  problems: Problem[],
  requestId: string,
): { errors: GraphQLFormattedError[] } => ({
  errors: problems.map((problem) => ({
    message: problem.message,
    extensions: toExtensions(problem, requestId),
  })),
})

const clientErrors: Plugin<Context, ServerContext> = {
  onResultProcess({ result, setResult, serverContext }) {
    if (Array.isArray(result) || !('errors' in result) || !result.errors?.length) return
    const isWhole = !('data' in result)
    setResult({
      ...result,
      errors: result.errors.map((error) => toClientError(error, isWhole, serverContext)),
    })
  },
}

const tooComplex = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COMPLEX' } })

/** The GraphQL server: schema, limits, errors. It reads no environment and opens nothing. */
export const createGateway = (house: House) =>
  createYoga<ServerContext, Context>({
    schema,
    context: ({ headers }) => createContext(house, readCredentials(headers)),
    graphqlEndpoint: '/graphql',
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
      clientErrors,
      maxTokensPlugin({
        n: 2000,
        propagateOnRejection: false,
        onReject: [
          (_ctx, error) => {
            throw tooComplex(error?.message ?? '')
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
