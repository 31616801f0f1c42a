import type { FastifyInstance } from 'fastify'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { Config } from '../config/config.ts'
import { eventListRoutes, eventRoutes } from '../domain/catalogue/events-rest.ts'
import { scanListRoutes } from '../domain/check-in/scan-list-rest.ts'
import { addDocumentPage } from '../domain/delivery/document-page.ts'
import { paymentRoutes } from '../domain/payment/rest.ts'
import { checkoutRoutes } from '../domain/sale/checkout/checkout-rest.ts'
import { addPaymentPage } from '../domain/sale/payment-page/page.ts'
import { addProviderEvents } from '../domain/sale/settle/provider-webhook-rest.ts'
import { channelTicketRoutes, organizationTicketRoutes } from '../domain/ticket/list-rest.ts'
import { lookupRoutes } from '../domain/ticket/rest.ts'
import type { Services } from '../request/context.ts'
import type { RateLimits } from '../request/rate-limits.ts'

/** Adds the documented REST routes below their two base paths. */
export async function addRoutes(
  app: FastifyInstance,
  services: Services,
  responseCache: ResponseCache,
  { channelsBasePath, integrationsBasePath }: Config,
): Promise<void> {
  await app.register(eventListRoutes(services, responseCache), { prefix: channelsBasePath })
  await app.register(eventRoutes(services, responseCache), { prefix: channelsBasePath })
  await app.register(paymentRoutes(services), { prefix: channelsBasePath })
  await app.register(checkoutRoutes(services), { prefix: channelsBasePath })
  await app.register(channelTicketRoutes(services), { prefix: channelsBasePath })
  await app.register(organizationTicketRoutes(services), { prefix: integrationsBasePath })
  await app.register(lookupRoutes(services), { prefix: integrationsBasePath })
  await app.register(scanListRoutes(services), { prefix: integrationsBasePath })
}

/** Adds the routes that need no API key: the URL contains a secret token, or the request is signed. */
export async function addPublicRoutes(
  app: FastifyInstance,
  services: Services,
  limits: RateLimits,
): Promise<void> {
  await addPaymentPage(app, services, limits)
  await addDocumentPage(app, services, limits)
  await addProviderEvents(app, services, limits)
}
