import { maxHeaderSize } from 'node:http'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import { access } from '../domain/caller/access.ts'
import type { Services } from '../domain/caller/context.ts'
import { isPublishableOrigin, readCredentials } from '../domain/caller/credentials.ts'
import { examplesFor } from '../domain/contract/ids.ts'
import { addDocumentPage } from '../domain/delivery/document-page.ts'
import { sendUnknownPage } from '../domain/language/error-page.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { addPaymentPage } from '../domain/sale/payment-page/page.ts'
import { addProviderWebhook } from '../domain/sale/settle/provider-webhook-rest.ts'
import { makeOnce } from '../engine/base/make-once.ts'
import { requestLimits } from '../engine/base/request-limits.ts'
import { createResponseCache } from '../engine/cache/response-cache.ts'
import type { Database } from '../engine/database/database.ts'
import { addGraphql } from '../engine/graphql-server/route.ts'
import { defaultTimeouts, manageConnections, type RequestTimeouts } from '../engine/http/connection-limits.ts'
import { answerClientError, answerErrors, watchAnswers } from '../engine/http/error-handler.ts'
import { addHealth, type WhyUnready } from '../engine/http/health.ts'
import { readJsonStrictly } from '../engine/http/json-body.ts'
import { limitResponseTime } from '../engine/http/limit-response-time.ts'
import { serializeError } from '../engine/http/mask-error.ts'
import { answerUnknownRoutes } from '../engine/http/not-found.ts'
import { addCors } from '../engine/http/public-cors.ts'
import { localRequests, publicUrlOf } from '../engine/http/public-url.ts'
import { requestIdOf } from '../engine/http/request-id.ts'
import { logRequests } from '../engine/http/request-log.ts'
import { refuseMalformedRequests, targetReader } from '../engine/http/request-target.ts'
import { addSecurity } from '../engine/http/security.ts'
import { createRateLimits } from '../engine/request/rate-limits.ts'
import { sendRefusal } from '../engine/rest/error-body.ts'
import { addDocumentation } from '../engine/rest/openapi/add-documentation.ts'
import { addRoute, validatorCompiler } from '../engine/rest/route.ts'
import type { Companion } from './companion.ts'
import { editor } from './graphiql-tabs.ts'
import { addHome } from './home.ts'
import { logFormatters } from './log.ts'
import { restContract } from './rest-contract.ts'
import { channelRoutes, integrationRoutes, lookups } from './routes.ts'
import { printedSchema, schema } from './schema.ts'
import type { Config } from './settings.ts'

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

const readTarget = targetReader(lookups)

/** Creates the HTTP application: GraphQL, REST, the payment page and the documentation, or `/health` and
 *  `/ready` alone for a process of background jobs. Opens no port or connection, and reads no environment
 *  variables. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { db, config, provider, companion, whyUnready = async () => null, isLeaving = () => false } = options
  const { headersMs, requestMs, checkMs } = options.timeouts ?? defaultTimeouts
  const app = fastify({
    logger: {
      level: config.logLevel,
      base: options.logFacts ?? null,
      serializers: { req: () => ({}), res: () => ({}), err: serializeError },
      formatters: logFormatters,
      stream: options.logTo,
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
    access,
    replica: options.replica ?? (() => db),
    provider,
    publicUrl: publicUrlOf(app, config),
    responseCache: createResponseCache(db, config.sharedReadsMs, access),
  }
  const rateLimits = createRateLimits(services, { ...config, publicRateLimit: config.publishableRateLimit })
  answerErrors(app, sendRefusal)
  watchAnswers(app)
  answerUnknownRoutes(app, sendUnknownPage)
  readJsonStrictly(app)
  options.instrument?.(app)
  logRequests(app)
  const { maxConnections, connectionsPerAddress } = config
  // Behind a proxy all connections have its address.
  const perAddress = config.trustProxy === false ? connectionsPerAddress : maxConnections
  manageConnections(app, { total: maxConnections, perAddress, isLeaving })
  limitResponseTime(app, options.answerTimeoutMs)
  readCredentials(app)
  addSecurity(app)
  addCors(app, config.corsOrigins, (origin) => isPublishableOrigin(db, origin))
  await rateLimits.addTo(app)
  refuseMalformedRequests(app)
  if (config.background === 'only') {
    addHealth(app, whyUnready)
    await app.ready()
    return app
  }
  const { publicUrl } = services
  const warnOfOthers = makeOnce(async () =>
    app.log.warn('a page was asked for by a name that is not of this machine alone: it shows no secret keys'),
  )
  const examplesOf = examplesFor(companion?.findExamples, localRequests(config), warnOfOthers)
  // First, because the documentation is of the routes after it.
  await companion?.addTo(app, publicUrl)
  addDocumentation(app, restContract, publicUrl, examplesOf)
  addHealth(app, whyUnready)
  addHome(app, printedSchema, { isOpen: !config.trustedDocumentsOnly, first: companion?.link })
  await addGraphql(app, services, config, {
    ...{ schema, examplesOf, editor, isLeaving },
    sendUnknown: sendUnknownPage,
  })
  for (const route of channelRoutes) addRoute(app, services, config.channelsBasePath, route)
  for (const route of integrationRoutes) addRoute(app, services, config.integrationsBasePath, route)
  // These need no API key: the URL contains a secret token, or the request is signed.
  await addPaymentPage(app, services, rateLimits)
  await addDocumentPage(app, services, rateLimits)
  await addProviderWebhook(app, services, rateLimits)
  await app.ready()
  return app
}
