import type { FastifyRequest } from 'fastify'
import { readCredentials } from '../auth/authenticate.ts'
import type { Credentials } from '../auth/known-credentials.ts'
import { type Context, createContext, type Services } from '../request/context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls, and the loaders of this request. Only on routes that authenticate. */
    ctx: Context
  }
}

type CreateContext<Request> = (
  services: Services,
  credentials: Credentials,
  request: Request,
) => Context | Promise<Context>

/** Authenticates the caller, and requires it to be of a kind, before anything else of the request is judged. A hook for
 *  `preParsing`, because the rate limit comes in `onRequest`, and what it refuses must cost no SQL. `create` is for
 *  routes that prefetch. Refuses: UNAUTHENTICATED, and whatever `requireKind` refuses. */
export const authenticated =
  <Request extends FastifyRequest = FastifyRequest>(
    services: Services,
    requireKind: (ctx: Context) => unknown,
    create: CreateContext<Request> = (services, credentials) => createContext(services, credentials),
  ) =>
  async (request: Request): Promise<void> => {
    request.ctx = await create(services, readCredentials(request.headers), request)
    requireKind(request.ctx)
  }
