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
import { catalogueContext, createContext, requireCaller, requireNeeds } from '../../domain/caller/context.ts'
import type { Needs } from '../base/caller.ts'
import { parseRequest } from '../base/parse.ts'
import { sendRepresentation } from '../http/representation.ts'
import { logCaller } from '../http/request-log.ts'
import { json } from '../json/json-writer.ts'
import type { Context, CreateContextWith, Services } from '../request/context.ts'

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

// Credentials of each kind of caller, as OpenAPI names them.
type Security = NonNullable<FastifySchema['security']>
const ofChannel: Security = [{ channelKey: [] }]
const ofIntegration: Security = [{ integrationKey: [] }, { integrationId: [], secret: [] }]
const securityOf: Record<Needs['caller'], Security> = {
  any: [...ofChannel, ...ofIntegration],
  confidential: [...ofChannel, ...ofIntegration],
  selling: ofChannel,
  channel: ofChannel,
  integration: ofIntegration,
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
  request.ctx = prefetch
    ? await prefetch.context(services, credentials, await prefetch.idOf(request))
    : await createContext(services, credentials, shared)
  logCaller(request, request.ctx.caller)
  requireNeeds(request.ctx, needs)
}

/** Adds a route below a base path, which refuses a caller that lacks what it needs before the body is parsed, or
 *  answers from the cache of shared answers. Its documentation says which credentials it takes. */
export function addRoute(
  app: FastifyInstance,
  services: Services,
  basePath: string,
  { needs, schema, url, ...options }: Route,
): void {
  const { responseCache } = services
  app.route({
    ...options,
    url: `${basePath}${url}`,
    schema: { security: securityOf[needs.caller], ...schema },
    // Not before: the rate limit runs in `onRequest`, and a request over the limit must cost no SQL.
    preParsing(request, reply, _body, done) {
      const cached = needs.shared ? responseCache.find(request, () => request.url) : null
      if (cached) return sendRepresentation(request, reply, Promise.resolve(cached))
      authorize(request, services, needs).then(() => done(), done)
    },
  })
}

/** Answers a shared read of the catalogue with a JSON body and, unless it is empty, a `Link` header. Shares the response
 *  with callers that have the same view and request the same URL. Refuses: UNAUTHENTICATED. */
export function answerRead(
  request: FastifyRequest,
  reply: FastifyReply,
  run: (ctx: Context) => Promise<{ body: object; link: string }>,
): void {
  const { ctx, url } = request
  const read = ctx.services.responseCache.read(requireCaller(ctx), url, async () => {
    const { body, link } = await run(catalogueContext(ctx))
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
