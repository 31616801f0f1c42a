import type { DocumentNode } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { Log } from '../http/mask-error.ts'
import type { Context } from '../request/context.ts'
import { requestLimits } from '../shared/request-limits.ts'
import { type ExecutionContext, limitedExecution } from './compiler/plugin.ts'
import { toClientError } from './errors.ts'
import { graphqlPath } from './params.ts'
import type { PreparedDocument, PreparedDocuments } from './prepared-document.ts'
import { schema } from './schema.ts'

/** Context that the HTTP server passes to Yoga with each request. */
type ServerContext = ExecutionContext & {
  requestId: string
  log: Log
  ctx: Context
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

// Takes documents from the cache of prepared ones, with the errors of their validation and with their operations.
function reuseDocuments(documents: PreparedDocuments): Plugin<ExecutionContext>[] {
  const preparedOf = new WeakMap<DocumentNode, PreparedDocument>()
  return [
    {
      onParse({ params, setParseFn }) {
        const prepared = documents.prepare(String(params.source))
        setParseFn(() => {
          if (!prepared.document) throw prepared.errors[0]
          preparedOf.set(prepared.document, prepared)
          return prepared.document
        })
      },
      onValidate({ params: { documentAST }, setResult }) {
        const prepared = preparedOf.get(documentAST)
        if (prepared) setResult(prepared.errors)
      },
    },
    limitedExecution((document, name) => preparedOf.get(document)?.operationOf(name) ?? null),
  ]
}

/** Creates the GraphQL server: schema, limits, errors, and further plugins. */
export const createGateway = (documents: PreparedDocuments, plugins: Plugin[]) =>
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
    maxRequestBodySize: false,
    parserAndValidationCache: false,
    plugins: [...reuseDocuments(documents), clientErrors, ...plugins],
  })
