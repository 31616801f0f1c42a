import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Credentials } from '../auth/credentials.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import { createCheckoutContext } from '../domain/sale/checkout/terms-loaders.ts'
import { createLookupContext } from '../domain/ticket/loaders.ts'
import { chooseMediaType, type MediaType } from '../http/accept.ts'
import { answerErrors } from '../http/error-handler.ts'
import { logFailure } from '../http/mask-error.ts'
import { answerUnknownRoutes } from '../http/not-found.ts'
import { type Representation, toRepresentation } from '../http/representation.ts'
import { sendRepresentation } from '../http/send-representation.ts'
import { type Context, catalogueContext, createContext, type Services } from '../request/context.ts'
import { Refusal, retryAfterOf, statusOf } from '../shared/errors.ts'
import { toErrorResult } from './errors.ts'
import { createExecutor } from './execute.ts'
import { graphiqlPage } from './graphiql/page.ts'
import type { FindDemo } from './graphiql/tabs.ts'
import { graphqlPath, type Parameters, readParameters } from './params.ts'
import { PersistedDocuments, type TrustedDocuments } from './persisted-documents.ts'
import { type PreparedDocument, PreparedDocuments } from './prepared-document.ts'

const sendErrors = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
  const retryAfter = retryAfterOf(refusal.problems[0])
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[refusal.code]).send(toErrorResult(refusal.problems, reply.request.id))
}

// Cache key of a catalogue response, besides the caller. JSON.stringify recurses, so the depth of the
// variables must have been checked before.
const cacheKeyOf = (mediaType: MediaType, { operationName, variables, query }: Parameters): string =>
  JSON.stringify([mediaType, operationName, variables, query])

const notAcceptable = () =>
  new Refusal({
    code: 'NOT_ACCEPTABLE',
    message: 'GraphQL is answered as application/json or application/graphql-response+json.',
  })

const wantsPage = ({ method, headers }: FastifyRequest) =>
  method === 'GET' && (headers.accept ?? '').includes('text/html')

/** Options of the GraphQL API: `findDemo` fills the example queries of GraphiQL. */
export type GraphqlOptions = { findDemo?: FindDemo; trusted?: TrustedDocuments }

/** Adds `/graphql`: the GraphQL API, and GraphiQL for browsers, unless only trusted documents are executed. */
export async function addGraphql(
  app: FastifyInstance,
  services: Services,
  responseCache: ResponseCache,
  { findDemo, trusted }: GraphqlOptions,
): Promise<void> {
  const persisted = new PersistedDocuments(trusted)
  const documents = new PreparedDocuments()
  const { execute, load } = createExecutor(documents)
  const page = graphiqlPage(findDemo)

  function createContextFor(
    parameters: Parameters,
    prepared: PreparedDocument,
    credentials: Credentials,
  ): Promise<Context> {
    const facts = prepared.factsOf(parameters.operationName)
    if (facts?.isCatalogueRead)
      return createContext(services, credentials, (authenticated) =>
        responseCache.remember(credentials, authenticated),
      )
    const ticketId = facts?.ticket?.(parameters.variables)
    if (ticketId) return createLookupContext(services, credentials, ticketId)
    return createCheckoutContext(services, credentials, facts?.rate?.(parameters.variables) ?? null)
  }

  async function answer(request: FastifyRequest): Promise<Representation> {
    const mediaType = chooseMediaType(request.headers.accept)
    if (!mediaType) throw notAcceptable()
    const sent = readParameters(request)
    const parameters = persisted.resolve(sent)
    const { credentials } = request
    const prepared = documents.prepare(parameters.query)
    const isCatalogue = prepared.factsOf(parameters.operationName)?.isCatalogueRead ?? false
    const cached = isCatalogue && responseCache.find(credentials, () => cacheKeyOf(mediaType, parameters))
    if (cached) return cached
    const ctx = await createContextFor(parameters, prepared, credentials)
    if (ctx.caller) persisted.keep(sent)
    if (!ctx.caller || !isCatalogue)
      return toRepresentation(
        await execute({ request, mediaType, parameters, prepared, ctx, isCatalogue: false }),
      )
    return responseCache.read(ctx.caller, cacheKeyOf(mediaType, parameters), () =>
      execute({ request, mediaType, parameters, prepared, ctx: catalogueContext(ctx), isCatalogue }),
    )
  }

  // Loads Yoga in the background, so that startup is fast. A request that arrives earlier waits for it.
  app.addHook('onListen', (done) => {
    setImmediate(() => load().catch((error) => logFailure(app.log, error, 'GraphQL could not be loaded')))
    done()
  })
  await app.register(
    async (scope) => {
      answerErrors(scope, sendErrors)
      answerUnknownRoutes(scope)
      scope.route({
        method: ['GET', 'POST'],
        url: '',
        exposeHeadRoute: false,
        schema: { hide: true },
        handler: (request, reply) =>
          sendRepresentation(request, reply, wantsPage(request) && !trusted?.only ? page() : answer(request)),
      })
    },
    { prefix: graphqlPath },
  )
}
