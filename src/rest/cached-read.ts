import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticated, readCredentials } from '../auth/authenticate.ts'
import type { SharedReads } from '../cache/response-cache.ts'
import { sendRead } from '../http/send-representation.ts'
import { type Context, createContext, requireCaller, type Services } from '../request/context.ts'

/** Authenticates a catalogue read, or answers it from the cache where its sender is known. A hook for `preParsing`. */
export const authenticatedRead =
  (services: Services, sharedReads: SharedReads, requireKind: (ctx: Context) => unknown) =>
  (request: FastifyRequest, reply: FastifyReply, _body: unknown, done: (error?: Error) => void): void => {
    const credentials = readCredentials(request.headers)
    const kept = sharedReads.find(credentials, () => request.url)
    if (kept) {
      sendRead(request, reply, Promise.resolve(kept))
      return
    }
    const remember = (authenticated: Authenticated) => sharedReads.remember(credentials, authenticated)
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
  sharedReads: SharedReads,
  request: FastifyRequest,
  reply: FastifyReply,
  run: () => Promise<{ body: Buffer; link: string }>,
): void {
  const read = sharedReads.read(requireCaller(request.ctx), request.url, async () => {
    const { body, link } = await run()
    return {
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', ...(link && { link }) },
      body,
      isShareable: true,
    }
  })
  sendRead(request, reply, read)
}
