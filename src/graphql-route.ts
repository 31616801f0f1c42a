import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { House } from './context.ts'
import { type Refusal, statusOf } from './errors.ts'
import { type GraphiqlPage, graphiqlPage } from './graphiql.ts'
import { answerErrors } from './http-errors.ts'
import { createGateway, toErrorResult } from './yoga.ts'

const sendErrors = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
  const retryAfter = refusal.problems[0].facts?.retryAfter
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[refusal.code]).send(toErrorResult(refusal.problems, reply.request.id))
}

const wantsPage = ({ method, headers }: FastifyRequest) =>
  method === 'GET' && (headers.accept ?? '').includes('text/html')

/** `/graphql`: Yoga behind the HTTP server, and GraphiQL for a browser. */
export async function addGraphql(
  app: FastifyInstance,
  house: House,
  demoKey: string | undefined,
): Promise<void> {
  const gateway = createGateway(house)
  const page: GraphiqlPage = graphiqlPage(demoKey)
  await app.register(async (scope) => {
    answerErrors(scope, sendErrors)
    // What isn't JSON is Yoga's to read or to refuse.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.route({
      method: ['GET', 'POST', 'OPTIONS'],
      url: '/graphql',
      schema: { hide: true },
      handler: async (request, reply) => {
        if (wantsPage(request)) return page.send(request, reply)
        const response = await gateway.handleNodeRequest(request, {
          requestId: request.id,
          headers: request.headers,
          log: request.log,
        })
        return reply
          .code(response.status)
          .headers(Object.fromEntries(response.headers))
          .send(await response.text())
      },
    })
  })
}
