import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticated, readCredentials } from '../auth/authenticate.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import { sendRepresentation } from '../http/send-representation.ts'
import { type Context, createContext, requireCaller, type Services } from '../request/context.ts'

/** Authenticates a catalogue read, or answers it from the cache where its sender is known. A hook for `preParsing`. */
export const authenticatedRead =
  (services: Services, responseCache: ResponseCache, requireKind: (ctx: Context) => unknown) =>
  (request: FastifyRequest, reply: FastifyReply, _body: unknown, done: (error?: Error) => void): void => {
    const credentials = readCredentials(request.headers)
    const kept = responseCache.find(credentials, () => request.url)
    if (kept) {
      sendRepresentation(request, reply, Promise.resolve(kept))
      return
    }
    const remember = (authenticated: Authenticated) => responseCache.remember(credentials, authenticated)
    createContext(services, credentials, remember)
      .then((ctx) => {
        request.ctx = ctx
        requireKind(ctx)
      })
      .then(() => done(), done)
  }

/** Answers a catalogue read with the bytes of a body in JSON and, where there is one, a `Link`: shared with those who
 *  ask for the same address and see the same. Refuses: UNAUTHENTICATED. */
export function answerRead(
  responseCache: ResponseCache,
  request: FastifyRequest,
  reply: FastifyReply,
  run: () => Promise<{ body: Buffer; link: string }>,
): void {
  const read = responseCache.read(requireCaller(request.ctx), request.url, async () => {
    const { body, link } = await run()
    return {
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', ...(link && { link }) },
      body,
      isShareable: true,
    }
  })
  sendRepresentation(request, reply, read)
}
