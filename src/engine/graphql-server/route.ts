import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { refusal, unauthenticated } from '../base/errors.ts'
import { instruments } from '../base/instruments.ts'
import { perInstance } from '../base/make-once.ts'
import type { HttpConfig } from '../config/http.ts'
import { answerErrors, applyRefusal, type SendRefusal } from '../http/error-handler.ts'
import { logFailure } from '../http/mask-error.ts'
import { acceptsEventStream, chooseMediaType, type MediaType, prefersPage } from '../http/media-type.ts'
import { answerUnknownRoutes, type SendUnknown } from '../http/not-found.ts'
import { type Answer, Representation, sendRepresentation } from '../http/representation.ts'
import { logCodes, logOperation } from '../http/request-log.ts'
import { createContext, type Services, sharedContext } from '../request/context.ts'
import { toErrorResult } from './errors.ts'
import { createExecutor } from './execute.ts'
import { type Editor, graphiqlPage } from './graphiql/page.ts'
import { sendOneEvent } from './live/event-stream.ts'
import { liveStreams } from './live/live-streams.ts'
import { graphqlPath, type Parameters, readParameters } from './params.ts'
import { persistDocuments } from './persisted-documents.ts'
import { prepareDocuments } from './prepared-document.ts'
import { boundStrangers } from './strangers.ts'
import { readTrustedDocuments } from './trusted-documents.ts'

const sendErrors: SendRefusal = (reply, refusal) =>
  applyRefusal(reply, refusal).send(toErrorResult(refusal.problems, reply.request.id))

// Cache key of a shared response, besides the caller. JSON.stringify recurses, so the depth of the
// variables must have been checked before.
const cacheKeyOf = (mediaType: MediaType, { operationName, variables, query }: Parameters): string =>
  JSON.stringify([mediaType, operationName, variables, query])

// Answers about the schema that are kept, of which few are asked for.
const maxDescribedBytes = 8 * 2 ** 20

/** Options of the GraphQL API. */
type Options<Examples> = {
  schema: GraphQLSchema
  /** Tells what fills the example queries of GraphiQL. */
  examplesOf(request: FastifyRequest): () => Promise<Examples | undefined>
  editor: Editor<Examples>
  /** Answers a browser that asks for an unknown path. */
  sendUnknown: SendUnknown
  /** Reports whether the process is shutting down: no stream is opened then, and those that are open end. */
  isLeaving(): boolean
}

/** Adds `/graphql`: the GraphQL API, and GraphiQL for browsers, unless only trusted documents are executed. */
export async function addGraphql<Examples>(
  app: FastifyInstance,
  services: Services,
  config: HttpConfig,
  { schema, examplesOf, editor, sendUnknown, isLeaving }: Options<Examples>,
) {
  const { access, responseCache } = services
  const trusted = await readTrustedDocuments(config.trustedDocuments)
  const persisted = persistDocuments(trusted, config.trustedDocumentsOnly)
  const documents = prepareDocuments(schema, new Set(trusted.values()))
  const strangers = boundStrangers(services, config.rateLimit !== null)
  const descriptions = new LRUCache<string, Answer>({
    maxSize: maxDescribedBytes,
    sizeCalculation: ({ body }, key) => body.length + 2 * key.length + 1_024,
  })
  const streams = liveStreams(services, app.log, config, isLeaving)
  const { execute, load } = createExecutor(schema, documents)
  const pageWith = perInstance((find: () => Promise<Examples | undefined>) => graphiqlPage(editor, find))

  async function read(request: FastifyRequest) {
    const { accept } = request.headers
    const mediaType = chooseMediaType(accept) ?? (acceptsEventStream(accept) ? 'application/json' : null)
    if (!mediaType)
      throw refusal(
        'NOT_ACCEPTABLE',
        'GraphQL is answered as application/json, application/graphql-response+json or text/event-stream.',
      )
    const sent = readParameters(request)
    const parameters = persisted.resolve(sent)
    strangers.countParsing(request)
    const prepare = () => documents.prepare(parameters.query)
    const isOurs = !request.credentials.isPublic && !strangers.isStranger(request)
    const prepared =
      isOurs || documents.isKnown(parameters.query) ? prepare() : await strangers.run(request, prepare)
    const facts = prepared.factsOf(parameters.operationName)
    logOperation(request, facts)
    return { mediaType, sent, parameters, prepared, facts }
  }
  type Asked = Awaited<ReturnType<typeof read>>

  async function answer(request: FastifyRequest, asked: Asked) {
    const { mediaType, sent, parameters, prepared, facts } = asked
    const { credentials, headers } = request
    if (facts?.stream && !acceptsEventStream(headers.accept))
      throw refusal(
        'NOT_ACCEPTABLE',
        'Subscriptions are answered as text/event-stream alone: name it in the header Accept.',
      )
    const isShared = facts?.isShared ?? false
    const cached = isShared && responseCache.find(request, () => cacheKeyOf(mediaType, parameters))
    if (cached) return cached
    const ctx = await (facts?.prefetch?.(services, credentials, parameters.variables) ??
      createContext(services, credentials, isShared))
    access.log(request, ctx.caller)
    persisted.keep(sent, ctx.caller, credentials)
    const executed = (isShared: boolean) =>
      execute({ ...asked, request, ctx: isShared ? sharedContext(ctx) : ctx, isShared })
    if (ctx.caller && isShared)
      return responseCache.read(ctx.caller, cacheKeyOf(mediaType, parameters), () => executed(true))
    const run = async () => {
      if (facts?.isIntrospection && prepared.isValid) {
        const key = JSON.stringify([mediaType, parameters.operationName, parameters.query])
        const known = descriptions.get(key)
        // A shareable one holds no more than its own bytes.
        const { answer } = known ? { answer: known } : new Representation(await executed(true))
        if (!known && answer.isShareable) descriptions.set(key, answer)
        return new Representation({ ...answer, isShareable: false })
      }
      const answered = await executed(false)
      logCodes(request, ctx.refusals)
      return new Representation(answered)
    }
    return ctx.caller ? run() : strangers.run(request, run)
  }

  // Answers a client that accepts event streams. A document that is not valid is left to Yoga, which says why.
  async function answerStream(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const asked = await read(request)
    const { query, operationName, variables } = asked.parameters
    const { stream } = asked.facts ?? {}
    if (stream) {
      const authenticated = await access.authenticate(services.db, request.credentials)
      if (!authenticated) throw unauthenticated()
      const compiled = asked.prepared.operationOf(operationName)
      if (compiled) {
        const operation = { schema, compiled, operationName, variables: variables ?? {}, stream }
        const open = () => streams.open(request, reply, operation, authenticated)
        await (instruments.tracer?.detached(open) ?? open())
        documents.keep(query)
        persisted.keep(asked.sent, authenticated.caller, request.credentials)
        return reply
      }
    }
    const pending = answer(request, asked)
    if (!chooseMediaType(request.headers.accept)) return sendOneEvent(reply, (await pending).body.toString())
    sendRepresentation(request, reply, pending)
    return reply
  }

  app.addHook('preClose', () => streams.close())
  // Loads Yoga in the background, so that startup is fast. A request that arrives earlier waits for it.
  app.addHook('onListen', (done) => {
    setImmediate(() => load().catch((error) => logFailure(app.log, error, 'GraphQL could not be loaded')))
    done()
  })
  await app.register(
    async (scope) => {
      answerErrors(scope, sendErrors)
      answerUnknownRoutes(scope, sendUnknown)
      strangers.addTo(scope)
      scope.route({
        method: ['GET', 'POST'],
        url: '',
        exposeHeadRoute: false,
        schema: { hide: true },
        handler(request, reply) {
          const { method, headers } = request
          if (method === 'GET' && !config.trustedDocumentsOnly && prefersPage(headers.accept))
            return sendRepresentation(request, reply, pageWith(examplesOf(request))())
          if (acceptsEventStream(headers.accept)) return answerStream(request, reply)
          const pending = read(request).then((asked) => answer(request, asked))
          return sendRepresentation(request, reply, pending)
        },
      })
    },
    { prefix: graphqlPath },
  )
}
