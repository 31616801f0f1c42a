import type { GraphQLSchema } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { requestLimits } from '../base/request-limits.ts'
import type { Log } from '../http/mask-error.ts'
import type { MediaType } from '../http/media-type.ts'
import type { Context } from '../request/context.ts'
import { type ExecutionContext, limitedExecution, standardExecution } from './compiler/plugin.ts'
import { toClientError } from './errors.ts'
import { graphqlPath, type Parameters } from './params.ts'
import type { PreparedDocument } from './prepared-document.ts'

/** Context that the HTTP server passes to Yoga with each request. */
type ServerContext = ExecutionContext & {
  requestId: string
  log: Log
  ctx: Context
  /** The operation that was checked, which alone is executed. */
  parameters: Parameters
  prepared: PreparedDocument
  /** Takes the codes of the errors, if the result contains any. */
  codes: string[]
}

const clientErrors: Plugin<Context, ServerContext> = {
  onResultProcess({ result, setResult, serverContext }) {
    if (Array.isArray(result) || !('errors' in result) || !result.errors?.length) return
    const isWhole = !('data' in result)
    const errors = result.errors
      .slice(0, requestLimits.maxErrors)
      .map((error) => toClientError(error, isWhole, serverContext))
    serverContext.codes.push(...errors.map(({ extensions }) => String(extensions.code)))
    setResult({ ...result, errors })
  },
}

// Executes the operation that was checked, with the errors of its validation: nothing is read from a request.
const checkedOperation: Plugin<ServerContext, ServerContext> = {
  onRequestParse({ serverContext: { parameters }, setRequestParser }) {
    const { query, variables, operationName } = parameters
    setRequestParser(() => ({ query, variables: variables ?? {}, operationName }))
  },
  onParse({ context: { prepared }, setParseFn }) {
    setParseFn(() => {
      if (!prepared.document) throw prepared.errors[0]
      return prepared.document
    })
  },
  onValidate({ context: { prepared }, setResult }) {
    setResult(prepared.errors)
  },
}

/** Creates the GraphQL server of a schema: limits, errors, and further plugins. The returned function executes a checked
 *  operation, of which Yoga learns the method and the media type of the response, and nothing else of its request: text
 *  of `Host` or of the target could lead it to another operation. */
export function createGateway(schema: GraphQLSchema, plugins: Plugin[]) {
  const { fetch } = createYoga<ServerContext, Context>({
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
    maxRequestBodySize: false,
    parserAndValidationCache: false,
    plugins: [
      checkedOperation,
      standardExecution,
      limitedExecution(({ prepared }: ServerContext, name) => prepared.operationOf(name)),
      clientErrors,
      ...plugins,
    ],
  })
  return (method: string, accept: MediaType, context: ServerContext) =>
    fetch(`http://localhost${graphqlPath}`, { method, headers: { accept } }, context)
}
