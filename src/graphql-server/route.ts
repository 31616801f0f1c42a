import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readCredentials } from '../auth/authenticate.ts'
import type { Credentials } from '../auth/known-credentials.ts'
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
import { Refusal, statusOf } from '../shared/errors.ts'
import type { RequestLimits } from '../shared/request-limits.ts'
import { toErrorResult } from './errors.ts'
import { createExecutor } from './execute.ts'
import { type GraphiqlPage, graphiqlPage } from './graphiql/page.ts'
import type { Demo } from './graphiql/tabs.ts'
import { graphqlPath, type Parameters, readParameters } from './params.ts'
import { type PreparedDocument, PreparedDocuments } from './prepared-document.ts'
import { readRequestedId } from './requested-id.ts'

const sendErrors = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
  const retryAfter = refusal.problems[0].facts?.retryAfter
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[refusal.code]).send(toErrorResult(refusal.problems, reply.request.id))
}

// All that decides a catalogue answer beside who asks. Variables are bounded by then: their text is made by recursion.
const questionOf = (mediaType: MediaType, { operationName, variables, query }: Parameters): string =>
  JSON.stringify([mediaType, operationName, variables, query])

const notAcceptable = () =>
  new Refusal({
    code: 'NOT_ACCEPTABLE',
    message: 'GraphQL is answered as application/json or application/graphql-response+json.',
  })

const wantsPage = ({ method, headers }: FastifyRequest) =>
  method === 'GET' && (headers.accept ?? '').includes('text/html')

/** What `/graphql` is made with: what GraphiQL opens with, and what a request may hold. */
export type GraphqlOptions = { responseCache: ResponseCache; demo: Demo | undefined; limits: RequestLimits }

/** `/graphql`: Yoga behind the HTTP server, and GraphiQL for a browser. */
export async function addGraphql(
  app: FastifyInstance,
  services: Services,
  { responseCache, demo, limits }: GraphqlOptions,
): Promise<void> {
  const documents = new PreparedDocuments()
  const { execute, load } = createExecutor(limits, documents)
  const page: GraphiqlPage = graphiqlPage(demo)

  function contextOf(
    parameters: Parameters,
    prepared: PreparedDocument,
    credentials: Credentials,
  ): Promise<Context> {
    const facts = prepared.factsOf(parameters.operationName)
    if (facts?.isCatalogueRead)
      return createContext(services, credentials, (authenticated) =>
        responseCache.remember(credentials, authenticated),
      )
    const ticketId = facts?.ticket && readRequestedId(facts.ticket, parameters.variables)
    if (ticketId) return createLookupContext(services, credentials, ticketId)
    const rateId = facts?.rate ? readRequestedId(facts.rate, parameters.variables) : null
    return createCheckoutContext(services, credentials, rateId)
  }

  async function answer(request: FastifyRequest): Promise<Representation> {
    const mediaType = chooseMediaType(request.headers.accept)
    if (!mediaType) throw notAcceptable()
    const parameters = readParameters(request)
    const credentials = readCredentials(request.headers)
    const prepared = documents.prepare(parameters.query)
    const isCatalogue = prepared.factsOf(parameters.operationName)?.isCatalogueRead ?? false
    const kept = isCatalogue && responseCache.find(credentials, () => questionOf(mediaType, parameters))
    if (kept) return kept
    const ctx = await contextOf(parameters, prepared, credentials)
    if (!ctx.caller || !isCatalogue)
      return toRepresentation(
        await execute({ request, mediaType, parameters, prepared, ctx, isCatalogue: false }),
      )
    return responseCache.read(ctx.caller, questionOf(mediaType, parameters), () =>
      execute({ request, mediaType, parameters, prepared, ctx: catalogueContext(ctx), isCatalogue }),
    )
  }

  // Who has just started can be asked sooner. A request that comes before waits for it.
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
          wantsPage(request)
            ? page.send(request, reply)
            : sendRepresentation(request, reply, answer(request)),
      })
    },
    { prefix: graphqlPath },
  )
}
