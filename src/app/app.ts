import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import { createResponseCache } from '../cache/response-cache.ts'
import type { Config } from '../config/config.ts'
import { trustProxyOf } from '../config/trust-proxy.ts'
import type { Database } from '../database/database.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import type { Demo } from '../graphql-server/graphiql/tabs.ts'
import { addGraphql } from '../graphql-server/route.ts'
import { printedSchema } from '../graphql-server/schema.ts'
import { limitResponseTime } from '../http/answer-in-time.ts'
import {
  defaultTimeouts,
  limitConnections,
  type RequestTimeouts,
  timeoutOptions,
} from '../http/connection-limits.ts'
import { answerClientError, answerErrors } from '../http/error-handler.ts'
import { addHealth, type WhyUnready } from '../http/health.ts'
import { addHome } from '../http/home.ts'
import { readJsonStrictly } from '../http/json-body.ts'
import { serializeError } from '../http/mask-error.ts'
import { answerUnknownRoutes } from '../http/not-found.ts'
import { publicUrlOf } from '../http/public-url.ts'
import { logRequests } from '../http/request-log.ts'
import { addSecurity } from '../http/security.ts'
import type { Services } from '../request/context.ts'
import { createRateLimits } from '../request/rate-limits.ts'
import { addDocumentation } from '../rest/openapi.ts'
import { sendRefusal, validatorCompiler } from '../rest/route.ts'
import { Refusal } from '../shared/errors.ts'
import { type RequestLimits, requestLimits } from '../shared/request-limits.ts'
import { closeConnectionsOnShutdown } from './close-connections.ts'
import { addPublicRoutes } from './public-routes.ts'
import { addRoutes } from './routes.ts'

export type AppOptions = {
  db: Database
  /** Where the catalogue may be read a moment late; `db` where it is absent. */
  replica?: () => Database
  config: Config
  /** Who takes the money. */
  provider: PaymentProvider
  whyUnready?: WhyUnready
  /** Whether the process is about to end, and answers end their connections. */
  isLeaving?: () => boolean
  answerTimeoutMs?: number
  /** What GraphiQL opens with, where the demo catalogue is seeded. */
  demo?: Demo
  /** What a request may hold: other bounds than the service's are for tests that look for what these are good for. */
  limits?: RequestLimits
  /** Where log lines go; standard output where it is absent. */
  logTo?: { write(line: string): void }
  /** What each log line says besides, such as which of several processes wrote it. */
  logFacts?: Record<string, unknown>
  /** How slowly a request may come; the defaults where they are absent. */
  timeouts?: RequestTimeouts
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

// A query that is no percent-encoded UTF-8 would else be taken for what it spells, and an asterisk (RFC 9112, 3.2.4) for
// the home page.
function refuseMalformedAddresses(app: FastifyInstance): void {
  app.addHook('onRequest', ({ url }, _reply, done) => {
    done(/^(\/|https?:)/i.test(url) && isDecodable(url) ? undefined : malformedAddress())
  })
}

/** The whole service as one HTTP application: GraphQL, REST, the payment page, their documentation. It opens nothing
 *  and reads no environment. */
export async function createApp({
  db,
  replica = () => db,
  config,
  provider,
  whyUnready = async () => null,
  isLeaving = () => false,
  answerTimeoutMs,
  demo,
  limits = requestLimits,
  logTo,
  logFacts,
  timeouts = defaultTimeouts,
}: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: {
      level: config.logLevel,
      base: logFacts ?? null,
      serializers: { req: () => ({}), res: () => ({}), err: serializeError },
      stream: logTo,
    },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => randomUUID(),
    bodyLimit: limits.maxBodyBytes,
    forceCloseConnections: 'idle',
    // What came before the port was closed is answered as ever.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    schemaController: { compilersFactory },
    ...timeoutOptions(timeouts),
    trustProxy: trustProxyOf(config.trustProxy),
    clientErrorHandler: answerClientError,
    frameworkErrors: (_error, request, reply) => {
      // No hook runs for an address that can't be read.
      reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
      sendRefusal(reply, malformedAddress())
    },
  })
  const services: Services = {
    db,
    replica,
    provider,
    holdMinutes: config.holdMinutes,
    rememberedEvents: config.rememberedEvents,
    admissionHours: config.admissionHours,
    privateWebhooks: config.privateWebhooks,
    publicUrl: publicUrlOf(app, config),
  }
  const rateLimits = createRateLimits(db, config.rateLimit)
  const responseCache = createResponseCache(db, config.sharedReadsMs)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  answerErrors(app, sendRefusal)
  answerUnknownRoutes(app)
  readJsonStrictly(app, limits)
  logRequests(app)
  closeConnectionsOnShutdown(app, isLeaving)
  limitConnections(app, config.maxConnections)
  limitResponseTime(app, answerTimeoutMs)
  await addSecurity(app, config.corsOrigins)
  await rateLimits.addTo(app)
  refuseMalformedAddresses(app)
  addDocumentation(app)
  addHealth(app, whyUnready)
  addHome(app, printedSchema())
  await addGraphql(app, services, { responseCache, demo, limits })
  await addRoutes(app, services, responseCache, config)
  await addPublicRoutes(app, services, rateLimits)
  await app.ready()
  return app
}
