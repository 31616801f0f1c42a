import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Credentials, readCredentials } from './access/authenticate.ts'
import { isCatalogueRead } from './catalogue-documents.ts'
import {
  browse,
  type Context,
  createCheckoutContext,
  createContext,
  createLookupContext,
  type House,
} from './context.ts'
import { type Refusal, statusOf } from './errors.ts'
import { createExecutor } from './execute-graphql.ts'
import { type GraphiqlPage, graphiqlPage } from './graphiql.ts'
import type { Demo } from './graphiql-tabs.ts'
import { toErrorResult } from './graphql-errors.ts'
import { graphqlPath, type Parameters, readParameters } from './graphql-params.ts'
import { answerErrors } from './http-errors.ts'
import { logFailure } from './mask.ts'
import { type Representation, toRepresentation } from './representation.ts'
import { sendRead } from './send-read.ts'
import type { SharedReads } from './shared-reads.ts'
import { rateAskedFor, ticketAskedFor } from './ticket-documents.ts'
import { answerUnknownRoutes } from './unknown-routes.ts'

const sendErrors = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
  const retryAfter = refusal.problems[0].facts?.retryAfter
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[refusal.code]).send(toErrorResult(refusal.problems, reply.request.id))
}

// All that decides a catalogue answer beside who asks.
const questionOf = ({ headers }: FastifyRequest, { operationName, variables, query }: Parameters): string =>
  JSON.stringify([headers.accept, operationName, variables, query])

const wantsPage = ({ method, headers }: FastifyRequest) =>
  method === 'GET' && (headers.accept ?? '').includes('text/html')

/** `/graphql`: Yoga behind the HTTP server, and GraphiQL for a browser. */
export async function addGraphql(
  app: FastifyInstance,
  house: House,
  sharedReads: SharedReads,
  demo: Demo | undefined,
): Promise<void> {
  const { execute, load } = createExecutor()
  const page: GraphiqlPage = graphiqlPage(demo)

  function contextOf(
    parameters: Parameters,
    credentials: Credentials,
    isCatalogue: boolean,
  ): Promise<Context> {
    if (isCatalogue)
      return createContext(house, credentials, (authenticated) =>
        sharedReads.remember(credentials, authenticated),
      )
    const ticketId = ticketAskedFor(parameters)
    if (ticketId !== null) return createLookupContext(house, credentials, ticketId)
    return createCheckoutContext(house, credentials, rateAskedFor(parameters))
  }

  async function answer(request: FastifyRequest): Promise<Representation> {
    const parameters = readParameters(request)
    const credentials = readCredentials(request.headers)
    const isCatalogue = isCatalogueRead(parameters)
    const kept = isCatalogue && sharedReads.find(credentials, () => questionOf(request, parameters))
    if (kept) return kept
    const ctx = await contextOf(parameters, credentials, isCatalogue)
    if (!ctx.caller || !isCatalogue)
      return toRepresentation(await execute({ request, parameters, ctx, isCatalogue: false }))
    return sharedReads.read(ctx.caller, questionOf(request, parameters), () =>
      execute({ request, parameters, ctx: browse(ctx), isCatalogue }),
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
          wantsPage(request) ? page.send(request, reply) : sendRead(request, reply, answer(request)),
      })
    },
    { prefix: graphqlPath },
  )
}
