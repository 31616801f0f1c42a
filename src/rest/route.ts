import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Authenticated, areWellFormed, readCredentials } from '../auth/authenticate.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import { sendRepresentation } from '../http/send-representation.ts'
import {
  type Context,
  createCheckoutContext,
  createContext,
  createLookupContext,
  requireCaller,
  type Services,
} from '../request/context.ts'
import { type Code, type Problem, type Refusal, statusOf } from '../shared/errors.ts'
import { parse } from '../shared/input-types.ts'
import { problemsToTell } from '../shared/told-problems.ts'
import { peekBody } from './peek-body.ts'
import { toSnakeCase } from './snake-case.ts'

const codes = Object.keys(statusOf) as [Code, ...Code[]]

const problemBody = z.looseObject({
  code: z.enum(codes),
  message: z.string(),
  path: z.string().optional().meta({ description: 'The place in the request: `tickets.0.answers.1`.' }),
})

/** What every refusal looks like (DECISIONS 6). Facts ride along in each of `errors`. */
export const errorBody = z
  .object({
    success: z.literal(false),
    code: z.enum(codes).meta({ description: "The first error's." }),
    message: z.string().meta({ description: "The first error's." }),
    errors: z.array(problemBody).meta({ description: 'Everything that was wrong.' }),
    request_id: z.string(),
  })
  .meta({ description: 'Why the request was refused.' })

const inSnakeCase = (facts: object) =>
  Object.fromEntries(Object.entries(facts).map(([name, fact]) => [toSnakeCase(name), fact]))

// A field that is unknown is named as the client spelled it: ticketRateId is not ticket_rate_id.
const placeOf = ({ code, path = [] }: Problem) =>
  path.map((key) => (typeof key === 'string' && code !== 'UNKNOWN_FIELD' ? toSnakeCase(key) : key)).join('.')

const toProblemBody = (problem: Problem): z.output<typeof problemBody> => ({
  code: problem.code,
  message: problem.message,
  ...(problem.path && problem.path.length > 0 && { path: placeOf(problem) }),
  ...inSnakeCase(problem.facts ?? {}),
})

/** Answers a refusal with its status and the documented body. */
export function sendRefusal(reply: FastifyReply, { problems, code }: Refusal): FastifyReply {
  const [first] = problems
  if (first.facts?.retryAfter) reply.header('retry-after', first.facts.retryAfter)
  return reply.code(statusOf[code]).send({
    success: false,
    code,
    message: first.message,
    errors: problemsToTell(problems).map(toProblemBody),
    request_id: reply.request.id,
  } satisfies z.output<typeof errorBody>)
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls, and the loaders of this request. Only on routes that authenticate. */
    ctx: Context
  }
}

/** Lets the caller in, if it is of the right kind, before anything of its request is judged, and has the ticket read
 *  that `ticketId` in the path names. For `preParsing`, because the rate limit comes in `onRequest`, and what it
 *  refuses must cost no SQL. */
export const authenticatedLookup =
  (services: Services, requireKind: (ctx: Context) => unknown) =>
  async (request: FastifyRequest<{ Params: { ticketId: string } }>) => {
    request.ctx = await createLookupContext(
      services,
      readCredentials(request.headers),
      request.params.ticketId,
    )
    requireKind(request.ctx)
  }

// A guess, for nothing else of the body is looked at: whoever checks out goes by what it says once it is parsed.
const ticketRateId = /"ticket_rate_id"\s*:\s*"([\w.:-]+)"/

/** The same for what checks out the rate that `ticket_rate_id` in the body names, as far as the body is there. */
export const authenticatedCheckout =
  (services: Services, requireKind: (ctx: Context) => unknown) => async (request: FastifyRequest) => {
    const credentials = readCredentials(request.headers)
    const body = areWellFormed(credentials) ? await peekBody(request.raw) : null
    const [, asked = null] = ticketRateId.exec(body ?? '') ?? []
    request.ctx = await createCheckoutContext(services, credentials, asked)
    requireKind(request.ctx)
  }

/** The same for a catalogue read, which is answered here where its answer is kept and its sender known. */
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

/** Fastify's validator: the zod schemas that the OpenAPI document is made from. It hands the Refusal to Fastify, which
 *  throws it. */
export const validatorCompiler =
  ({ schema }: { schema: z.ZodType }) =>
  (given: unknown) => {
    try {
      return { value: parse(schema, given) }
    } catch (error) {
      return { error: error as Error }
    }
  }
