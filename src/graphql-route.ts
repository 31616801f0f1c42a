import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { House } from './context.ts'
import { Refusal, statusOf } from './errors.ts'
import { type GraphiqlPage, graphiqlPage } from './graphiql.ts'
import type { Demo } from './graphiql-tabs.ts'
import { toErrorResult } from './graphql-errors.ts'
import { checkParameters } from './graphql-params.ts'
import { answerErrors } from './http-errors.ts'
import { answerUnknownRoutes } from './unknown-routes.ts'
import { createGateway } from './yoga.ts'

const sendErrors = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
  const retryAfter = refusal.problems[0].facts?.retryAfter
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[refusal.code]).send(toErrorResult(refusal.problems, reply.request.id))
}

const wantsPage = ({ method, headers }: FastifyRequest) =>
  method === 'GET' && (headers.accept ?? '').includes('text/html')

/** `/graphql`: Yoga behind the HTTP server, and GraphiQL for a browser. */
export async function addGraphql(app: FastifyInstance, house: House, demo: Demo | undefined): Promise<void> {
  const gateway = createGateway(house)
  const page: GraphiqlPage = graphiqlPage(demo)
  await app.register(
    async (scope) => {
      answerErrors(scope, sendErrors)
      answerUnknownRoutes(scope)
      scope.route({
        method: ['GET', 'POST'],
        url: '',
        exposeHeadRoute: false,
        schema: { hide: true },
        handler: async (request, reply) => {
          if (wantsPage(request)) return page.send(request, reply)
          checkParameters(request)
          const response = await gateway.handleNodeRequest(request, {
            requestId: request.id,
            headers: request.headers,
            log: request.log,
          })
          if (response.status === 406)
            throw new Refusal({ code: 'NOT_ACCEPTABLE', message: 'GraphQL is answered as application/json.' })
          return reply
            .code(response.status)
            .headers(Object.fromEntries(response.headers))
            .send(await response.text())
        },
      })
    },
    { prefix: '/graphql' },
  )
}
