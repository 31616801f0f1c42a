import type { FastifyInstance, FastifyReply } from 'fastify'
import { refusal } from '../base/errors.ts'
import { preferredType } from './media-type.ts'
import { addVary } from './public-cors.ts'

const patternOf = (url: string) => new RegExp(`^${url.replace(/\*/g, '.*').replace(/:\w+/g, '[^/]+')}$`)

/** Sends a browser a page that says that there is no such path. */
export type SendUnknown = (reply: FastifyReply) => FastifyReply

/** Answers 404 for an unknown path, by `sendUnknown` to a browser, and 405 with `Allow` for an unsupported method of a known path. Call it
 *  before the routes are added. */
export function answerUnknownRoutes(app: FastifyInstance, sendUnknown: SendUnknown): void {
  const known: { path: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    known.push({ path: patternOf(url), methods: [method].flat() })
  })
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const allowed = known.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods)
    // A wildcard route supports the method, but has no such file.
    if (allowed.length === 0 || allowed.includes(request.method)) {
      addVary(reply, 'accept')
      if (preferredType(request.headers.accept, ['application/json', 'text/html']) === 'text/html')
        return sendUnknown(reply)
      throw refusal('NOT_FOUND', 'There is no such path.')
    }
    reply.header('allow', [...new Set(allowed)].join(', '))
    throw refusal('METHOD_NOT_ALLOWED', `The path does not take ${request.method}.`)
  })
}
