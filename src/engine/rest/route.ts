import type {
  ContextConfigDefault,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify'
import type { z } from 'zod'
import type { Needs } from '../base/caller.ts'
import { unauthenticated } from '../base/errors.ts'
import { parseRequest } from '../base/parse.ts'
import { sendRepresentation } from '../http/representation.ts'
import { json } from '../json/json-writer.ts'
import {
  type Context,
  type CreateContextWith,
  createContext,
  type Services,
  sharedContext,
} from '../request/context.ts'

/** Needs of a route. */
type RouteNeeds = Needs & {
  /** Row to read together with the caller's key: what reads it, and its identifier in a request that is not validated
   *  yet. */
  prefetch?: {
    context: CreateContextWith
    idOf(request: FastifyRequest): string | null | Promise<string | null>
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Context of the request. Set only on routes that authenticate. */
    ctx: Context
  }
}

// Types that a schema of zod gives to a handler.
interface ZodTypes extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
  serializer: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
}

type TypedRoute<Schema extends FastifySchema> = RouteOptions<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  RouteGenericInterface,
  ContextConfigDefault,
  Schema,
  ZodTypes
> & { needs: RouteNeeds }

/** An authenticated route. */
export type Route = RouteOptions & { needs: RouteNeeds }

/** Defines an authenticated route, with the types that its schema gives to its handler. */
export const route = <const Schema extends FastifySchema>(options: TypedRoute<Schema>) =>
  options as unknown as Route

// Gives a request its context, if the caller has what the route needs.
async function authorize(request: FastifyRequest, services: Services, needs: RouteNeeds): Promise<void> {
  const { credentials } = request
  const { shared, prefetch } = needs
  const { access } = services
  request.ctx = prefetch
    ? await prefetch.context(services, credentials, await prefetch.idOf(request))
    : await createContext(services, credentials, shared)
  access.log(request, request.ctx.caller)
  access.require(request.ctx, needs)
}

/** Adds a route below a base path, which refuses a caller that lacks what it needs before the body is parsed, or
 *  answers from the cache of shared answers. Its documentation says which credentials it takes. */
export function addRoute(app: FastifyInstance, services: Services, basePath: string, route: Route) {
  const { needs, schema, url, ...options } = route
  const { access, responseCache } = services
  app.route({
    ...options,
    url: `${basePath}${url}`,
    schema: { security: access.securityOf(needs), ...schema },
    // Not before: the rate limit runs in `onRequest`, and a request over the limit must cost no SQL.
    preParsing(request, reply, _body, done) {
      const cached = needs.shared ? responseCache.find(request, () => request.url) : null
      if (cached) return sendRepresentation(request, reply, Promise.resolve(cached))
      authorize(request, services, needs).then(() => done(), done)
    },
  })
}

/** Answers a shared read with a JSON body and, unless it is empty, a `Link` header. Shares the response
 *  with callers that have the same view and request the same URL. Refuses: UNAUTHENTICATED. */
export function answerRead(
  request: FastifyRequest,
  reply: FastifyReply,
  run: (ctx: Context) => Promise<{ body: object; link: string }>,
): void {
  const { ctx, url } = request
  if (!ctx.caller) throw unauthenticated()
  const read = ctx.services.responseCache.read(ctx.caller, url, async () => {
    const { body, link } = await run(sharedContext(ctx))
    json.start()
    json.value(body)
    return {
      headers: { 'content-type': 'application/json; charset=utf-8', ...(link && { link }) },
      body: json.take(),
      isShareable: true,
    }
  })
  sendRepresentation(request, reply, read)
}

/** Link to another page of the list that is requested (RFC 8288), by its parameters: `without` some, and with others. */
export function linkTo(
  { ctx, url, routeOptions }: FastifyRequest,
  rel: 'next' | 'prev',
  without: string[],
  parameters: Record<string, string | number>,
): string {
  const address = `${ctx.services.publicUrl()}${routeOptions.url}`
  const { searchParams } = new URL(url, address)
  for (const name of without) searchParams.delete(name)
  for (const [name, value] of Object.entries(parameters)) searchParams.set(name, String(value))
  return `<${address}?${searchParams}>; rel="${rel}"`
}

/** Validator compiler for Fastify, for the same zod schemas that the OpenAPI document is generated from.
 *  Returns the `Refusal` to Fastify, which throws it. */
export const validatorCompiler =
  ({ schema }: { schema: z.ZodType }) =>
  (given: unknown) => {
    try {
      return { value: parseRequest(schema, given) }
    } catch (error) {
      return { error: error as Error }
    }
  }
