import { maxHeaderSize } from 'node:http'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import { isPublishableOrigin, readCredentials } from '../auth/credentials.ts'
import { createResponseCache } from '../cache/response-cache.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { addDocumentPage } from '../domain/delivery/document-page.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { addPaymentPage } from '../domain/sale/payment-page/page.ts'
import { addProviderWebhook } from '../domain/sale/settle/provider-webhook-rest.ts'
import { sentMessages } from '../domain/webhook/messages-rest.ts'
import { addGraphql } from '../graphql-server/route.ts'
import { printedSchema } from '../graphql-server/schema.ts'
import { defaultTimeouts, manageConnections, type RequestTimeouts } from '../http/connection-limits.ts'
import { answerClientError, answerErrors, watchAnswers } from '../http/error-handler.ts'
import { addHealth, type WhyUnready } from '../http/health.ts'
import { addHome } from '../http/home.ts'
import { readJsonStrictly } from '../http/json-body.ts'
import { limitResponseTime } from '../http/limit-response-time.ts'
import { serializeError } from '../http/mask-error.ts'
import { answerUnknownRoutes } from '../http/not-found.ts'
import { addCors } from '../http/public-cors.ts'
import { publicUrlOf } from '../http/public-url.ts'
import { requestIdOf } from '../http/request-id.ts'
import { logRequests } from '../http/request-log.ts'
import { readTarget, refuseMalformedRequests } from '../http/request-target.ts'
import { addSecurity } from '../http/security.ts'
import type { Services } from '../request/context.ts'
import { createRateLimits } from '../request/rate-limits.ts'
import { sendRefusal } from '../rest/error-body.ts'
import { addDocumentation } from '../rest/openapi/add-documentation.ts'
import { addRoute, validatorCompiler } from '../rest/route.ts'
import { requestLimits } from '../shared/request-limits.ts'
import type { Companion } from './companion.ts'
import { logFormatters } from './log.ts'
import { channelRoutes, integrationRoutes } from './routes.ts'

type AppOptions = {
  db: Database
  /** Database for catalogue reads, which may lag behind; `db` by default. */
  replica?: () => Database
  config: Config
  provider: PaymentProvider
  whyUnready?: WhyUnready
  /** Reports whether the process is shutting down. Responses then close their connections. */
  isLeaving?: () => boolean
  answerTimeoutMs?: number
  /** Companion that is put beside the service; none by default. */
  companion?: Companion | null
  /** Destination of log lines; standard output by default. */
  logTo?: { write(line: string): void }
  /** Adds hooks of metrics and traces, before all others. */
  instrument?(app: FastifyInstance): void
  /** Fields that are added to each log line, such as the process that wrote it. */
  logFacts?: Record<string, unknown>
  /** Timeouts for receiving a request. */
  timeouts?: RequestTimeouts
}

// Without these, Fastify would spend a tenth of a second on loading its own. Its types know no others.
const compilersFactory = {
  buildValidator: () => validatorCompiler as never,
  buildSerializer: () => () => (body: unknown) => JSON.stringify(body),
}

/** Creates the HTTP application: GraphQL, REST, the payment page and the documentation, or `/health` and
 *  `/ready` alone for a process of background jobs. Opens no port or connection, and reads no environment
 *  variables. */
export async function createApp({
  db,
  replica = () => db,
  config,
  provider,
  whyUnready = async () => null,
  isLeaving = () => false,
  answerTimeoutMs,
  companion = null,
  logTo,
  logFacts,
  instrument = () => {},
  timeouts: { headersMs, requestMs, checkMs } = defaultTimeouts,
}: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: {
      level: config.logLevel,
      base: logFacts ?? null,
      serializers: { req: () => ({}), res: () => ({}), err: serializeError },
      formatters: logFormatters,
      stream: logTo,
    },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: ({ headers }) => requestIdOf(headers),
    bodyLimit: requestLimits.maxBodyBytes,
    forceCloseConnections: 'idle',
    // Requests that arrived before the port closed are answered normally.
    return503OnClosing: false,
    // Fastify would refuse a long identifier without any hook: `refuseMalformedRequests` does instead.
    routerOptions: { maxParamLength: maxHeaderSize },
    rewriteUrl: ({ url = '/' }) => readTarget(url),
    schemaController: { compilersFactory },
    requestTimeout: requestMs,
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: checkMs,
      // A request without a `Host`, or with two, is refused like any other.
      requireHostHeader: false,
      joinDuplicateHeaders: true,
    },
    trustProxy: config.trustProxy,
    clientErrorHandler: answerClientError,
  })
  const services: Services = {
    ...config,
    db,
    replica,
    provider,
    publicUrl: publicUrlOf(app, config),
    responseCache: createResponseCache(db, config.sharedReadsMs),
  }
  const rateLimits = createRateLimits(db, config)
  answerErrors(app, sendRefusal)
  watchAnswers(app)
  answerUnknownRoutes(app)
  readJsonStrictly(app)
  instrument(app)
  logRequests(app)
  const { maxConnections, connectionsPerAddress } = config
  // Behind a proxy all connections have its address.
  const perAddress = config.trustProxy === false ? connectionsPerAddress : maxConnections
  manageConnections(app, { total: maxConnections, perAddress, isLeaving })
  limitResponseTime(app, answerTimeoutMs)
  readCredentials(app)
  addSecurity(app)
  addCors(app, config.corsOrigins, {
    isKnown: (origin) => isPublishableOrigin(db, origin),
    isPublic: ({ credentials }) => credentials.isPublishable,
  })
  await rateLimits.addTo(app)
  refuseMalformedRequests(app)
  if (config.background === 'only') {
    addHealth(app, whyUnready)
    await app.ready()
    return app
  }
  const { publicUrl } = services
  const findExamples = companion?.findExamples
  // First, because the documentation is of the routes after it.
  await companion?.addTo(app, publicUrl)
  addDocumentation(app, { webhooks: sentMessages, publicUrl, findExamples })
  addHealth(app, whyUnready)
  addHome(app, printedSchema, { isOpen: !config.trustedDocumentsOnly, first: companion?.link })
  await addGraphql(app, services, config, { findExamples, isLeaving })
  for (const route of channelRoutes) addRoute(app, services, config.channelsBasePath, route)
  for (const route of integrationRoutes) addRoute(app, services, config.integrationsBasePath, route)
  // These need no API key: the URL contains a secret token, or the request is signed.
  await addPaymentPage(app, services, rateLimits)
  await addDocumentPage(app, services, rateLimits)
  await addProviderWebhook(app, services, rateLimits)
  await app.ready()
  return app
}
