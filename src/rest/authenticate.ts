import type { FastifyRequest } from 'fastify'
import type { Credentials } from '../auth/credentials.ts'
import { logCaller } from '../http/request-log.ts'
import { type Context, createContext, type Services } from '../request/context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Context of the request. Set only on routes that authenticate. */
    ctx: Context
  }
}

type CreateContext<Request> = (
  services: Services,
  credentials: Credentials,
  request: Request,
) => Context | Promise<Context>

/** Creates a hook that authenticates the caller and checks its kind before the body is parsed. Use it as
 *  `preParsing`: the rate limit runs in `onRequest`, and a request over the limit must cost no SQL. `create`
 *  is for routes that prefetch. Refuses: UNAUTHENTICATED, and whatever `requireKind` refuses. */
export const authenticated =
  <Request extends FastifyRequest = FastifyRequest>(
    services: Services,
    requireKind: (ctx: Context) => unknown,
    create: CreateContext<Request> = (services, credentials) => createContext(services, credentials),
  ) =>
  async (request: Request): Promise<void> => {
    request.ctx = await create(services, request.credentials, request)
    logCaller(request, request.ctx.caller)
    requireKind(request.ctx)
  }
