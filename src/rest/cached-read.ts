import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticated } from '../auth/caller.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import { sendRepresentation } from '../http/representation.ts'
import { logCaller } from '../http/request-log.ts'
import { json } from '../json/json-writer.ts'
import { createContext, requireCaller, requireScope, type Services } from '../request/context.ts'

/** Creates a `preParsing` hook that authenticates a catalogue read, or answers it from the cache if the
 *  credentials are known. Refuses: UNAUTHENTICATED, FORBIDDEN for an integration whose key lacks its scope. */
export const authenticatedRead =
  (services: Services, responseCache: ResponseCache, operation: string) =>
  (request: FastifyRequest, reply: FastifyReply, _body: unknown, done: (error?: Error) => void): void => {
    const { credentials } = request
    const cached = responseCache.find(credentials, () => request.url)
    if (cached) {
      logCaller(request, responseCache.callerOf(credentials))
      sendRepresentation(request, reply, Promise.resolve(cached))
      return
    }
    const remember = (authenticated: Authenticated) => responseCache.remember(credentials, authenticated)
    createContext(services, credentials, remember)
      .then((ctx) => {
        request.ctx = ctx
        logCaller(request, ctx.caller)
        requireCaller(ctx)
        requireScope(ctx, operation)
      })
      .then(() => done(), done)
  }

/** Answers a catalogue read with a JSON body and, unless it is empty, a `Link` header. Shares the response
 *  with callers that have the same view and request the same URL. Refuses: UNAUTHENTICATED. */
export function answerRead(
  responseCache: ResponseCache,
  request: FastifyRequest,
  reply: FastifyReply,
  run: () => Promise<{ body: object; link: string }>,
): void {
  const read = responseCache.read(requireCaller(request.ctx), request.url, async () => {
    const { body, link } = await run()
    json.start()
    json.value(body)
    return {
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', ...(link && { link }) },
      body: json.take(),
      isShareable: true,
    }
  })
  sendRepresentation(request, reply, read)
}
