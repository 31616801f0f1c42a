import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readCredentials } from './access/authenticate.ts'
import { isCatalogueRead } from './catalogue-documents.ts'
import { browse, type Context, createContext, createLookupContext, type House } from './context.ts'
import { Refusal, statusOf } from './errors.ts'
import { type GraphiqlPage, graphiqlPage } from './graphiql.ts'
import type { Demo } from './graphiql-tabs.ts'
import { toErrorResult } from './graphql-errors.ts'
import { type Parameters, readParameters } from './graphql-params.ts'
import { answerErrors } from './http-errors.ts'
import { type Answer, type Representation, toRepresentation } from './representation.ts'
import { sendRead } from './send-read.ts'
import type { SharedReads } from './shared-reads.ts'
import { ticketAskedFor } from './ticket-documents.ts'
import { answerUnknownRoutes } from './unknown-routes.ts'
import { createGateway } from './yoga.ts'

const sendErrors = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
  const retryAfter = refusal.problems[0].facts?.retryAfter
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[refusal.code]).send(toErrorResult(refusal.problems, reply.request.id))
}

// All that decides a catalogue answer beside who asks; null for what is no catalogue read.
const questionOf = ({ headers }: FastifyRequest, parameters: Parameters): string | null =>
  isCatalogueRead(parameters)
    ? JSON.stringify([headers.accept, parameters.operationName, parameters.variables, parameters.query])
    : null

// Without the query, which the address has already: Yoga would write it there once more.
const asSent = ({ raw, method, headers, body }: FastifyRequest) => ({ raw, method, headers, body })

const wantsPage = ({ method, headers }: FastifyRequest) =>
  method === 'GET' && (headers.accept ?? '').includes('text/html')

/** `/graphql`: Yoga behind the HTTP server, and GraphiQL for a browser. */
export async function addGraphql(
  app: FastifyInstance,
  house: House,
  sharedReads: SharedReads,
  demo: Demo | undefined,
): Promise<void> {
  const gateway = createGateway()
  const page: GraphiqlPage = graphiqlPage(demo)

  async function execute(request: FastifyRequest, ctx: Context, isCatalogue: boolean): Promise<Answer> {
    let hasErrors = false
    const response = await gateway.handleNodeRequest(asSent(request), {
      requestId: request.id,
      log: request.log,
      ctx,
      onErrors() {
        hasErrors = true
      },
    })
    const { status } = response
    if (status === 406)
      throw new Refusal({ code: 'NOT_ACCEPTABLE', message: 'GraphQL is answered as application/json.' })
    // The length is of the body as it is: the HTTP server counts what it sends.
    const { 'content-length': _, ...headers } = Object.fromEntries(
      [...response.headers].map(([name, value]) => [name.toLowerCase(), value]),
    )
    // An error holds the id of its request, and an event stream is no body to be kept.
    const isWhole = status === 200 && !hasErrors && /^application\/.*json/.test(headers['content-type'] ?? '')
    const { buffer, byteOffset, byteLength } = await response.bytes()
    const body = Buffer.from(buffer, byteOffset, byteLength)
    return { status, headers, body, isShareable: isCatalogue && isWhole }
  }

  async function answer(request: FastifyRequest): Promise<Representation> {
    const parameters = readParameters(request)
    const credentials = readCredentials(request.headers)
    const kept = sharedReads.find(credentials, () => questionOf(request, parameters))
    if (kept) return kept
    const ticketId = ticketAskedFor(parameters)
    if (ticketId !== null) {
      const ctx = await createLookupContext(house, credentials, ticketId)
      return toRepresentation(await execute(request, ctx, false))
    }
    const ctx = await createContext(house, credentials, (authenticated) => {
      if (isCatalogueRead(parameters)) sharedReads.remember(credentials, authenticated)
    })
    const asked = ctx.caller && questionOf(request, parameters)
    if (!ctx.caller || asked === null) return toRepresentation(await execute(request, ctx, false))
    return sharedReads.read(ctx.caller, asked, () => execute(request, browse(ctx), true))
  }

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
    { prefix: '/graphql' },
  )
}
