import { randomUUID } from 'node:crypto'
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import helmet from 'helmet'
import { areWellFormed, hashCredentials, readCredentials } from './access/authenticate.ts'
import { closeConnectionsAtTheEnd } from './close-connections.ts'
import type { Config } from './config.ts'
import type { House } from './context.ts'
import type { Database } from './database.ts'
import { addDocumentation } from './documentation.ts'
import { Refusal } from './errors.ts'
import type { Demo } from './graphiql-tabs.ts'
import { bodyLimit } from './graphql-params.ts'
import { addGraphql } from './graphql-route.ts'
import { addHealth } from './health.ts'
import { addHome } from './home.ts'
import { answerClientError, answerErrors } from './http-errors.ts'
import { readJsonStrictly } from './json-body.ts'
import { addPages } from './pages.ts'
import type { PaymentProvider } from './payment/provider.ts'
import { publicUrlOf } from './public-url.ts'
import { sendRefusal, validatorCompiler } from './rest.ts'
import { addRoutes } from './routes.ts'
import { printedSchema } from './schema.ts'
import { createSharedReads } from './shared-reads.ts'
import { answerUnknownRoutes } from './unknown-routes.ts'

export type AppOptions = {
  db: Database
  /** Where the catalogue may be read a moment late; `db` where it is absent. */
  replica?: () => Database
  config: Config
  /** Who takes the money. */
  provider: PaymentProvider
  /** Whether requests should be sent here; asked by `/ready`. */
  ready?: () => Promise<boolean>
  /** What GraphiQL opens with, where the demo catalogue is seeded. */
  demo?: Demo
  /** Where log lines go; standard output where it is absent. */
  logTo?: { write(line: string): void }
  /** What each log line says besides, such as which of several processes wrote it. */
  logFacts?: Record<string, unknown>
}

// Each set of credentials has a limit of its own, and only who has all of it can use it up; else who sends. Hashed,
// because the limits are kept.
function rateLimitKey({ headers, ip }: FastifyRequest): string {
  const credentials = readCredentials(headers)
  return areWellFormed(credentials) ? hashCredentials(credentials) : ip
}

// They are the same for every answer, so they are made once.
function securityHeaders(): OutgoingHttpHeaders {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet({ hsts: false })(response.req, response, () => {})
  return { ...response.getHeaders() }
}

async function addProtection(
  app: FastifyInstance,
  { corsOrigins, rateLimit: perSecond }: Config,
): Promise<void> {
  const headers = securityHeaders()
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  if (corsOrigins.length > 0)
    await app.register(cors, {
      origin: corsOrigins,
      // A request that is no preflight would be answered in a shape of its own.
      strictPreflight: false,
      exposedHeaders: ['etag', 'link', 'retry-after', 'idempotent-replayed', 'x-request-id'],
    })
  if (perSecond === null) return
  await app.register(rateLimit, {
    max: perSecond,
    timeWindow: 1000,
    keyGenerator: rateLimitKey,
    errorResponseBuilder: () =>
      new Refusal({
        code: 'RATE_LIMITED',
        message: 'Too many requests with this key.',
        facts: { limit: perSecond, retryAfter: 1 },
      }),
  })
}

// One line a request: the route and not the address, which may hold a payment page's token or what is searched for.
function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', ({ method, routeOptions, log }, reply, done) => {
    const route = routeOptions.url ?? 'unknown'
    log.info({ method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request')
    done()
  })
}

// Fastify loads its own, a tenth of a second, where none are given from the start; ours are set before any route.
const noCompiler = (): never => {
  throw new Error('a route was added before its compilers were set')
}
const compilersFactory = { buildValidator: noCompiler, buildSerializer: noCompiler }

const malformedAddress = () => new Refusal({ code: 'BAD_REQUEST', message: 'The address is malformed.' })

function isDecodable(text: string): boolean {
  if (!text.includes('%')) return true
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

// What is no percent-encoded UTF-8 behind the question mark would else be taken for what it spells.
function refuseMalformedQueries(app: FastifyInstance): void {
  app.addHook('onRequest', ({ url }, _reply, done) => {
    done(isDecodable(url) ? undefined : malformedAddress())
  })
}

/** The whole service as one HTTP application: GraphQL, REST, the payment page, their documentation. It opens nothing
 *  and reads no environment. */
export async function createApp({
  db,
  replica = () => db,
  config,
  provider,
  ready = async () => true,
  demo,
  logTo,
  logFacts,
}: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: {
      level: config.logLevel,
      base: logFacts ?? null,
      serializers: { req: () => ({}), res: () => ({}) },
      stream: logTo,
    },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => randomUUID(),
    bodyLimit,
    forceCloseConnections: 'idle',
    // What came before the port was closed is answered as ever.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    schemaController: { compilersFactory },
    requestTimeout: 30_000,
    clientErrorHandler: answerClientError,
    frameworkErrors: (_error, request, reply) => {
      // No hook runs for an address that can't be read.
      reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
      sendRefusal(reply, malformedAddress())
    },
  })
  const house: House = {
    db,
    replica,
    provider,
    holdMinutes: config.holdMinutes,
    rememberedEvents: config.rememberedEvents,
    admissionHours: config.admissionHours,
    privateWebhooks: config.privateWebhooks,
    publicUrl: publicUrlOf(app, config),
  }
  const sharedReads = createSharedReads(db, config.sharedReadsMs)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  answerErrors(app, sendRefusal)
  answerUnknownRoutes(app)
  readJsonStrictly(app)
  logRequests(app)
  closeConnectionsAtTheEnd(app)
  await addProtection(app, config)
  refuseMalformedQueries(app)
  addDocumentation(app)
  addHealth(app, ready)
  addHome(app, printedSchema())
  await addGraphql(app, house, sharedReads, demo)
  await addRoutes(app, house, sharedReads, config)
  await addPages(app, house)
  await app.ready()
  return app
}
