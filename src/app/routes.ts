import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { scanListRoute } from '../domain/check-in/scan-list-rest.ts'
import { addDocumentPage } from '../domain/delivery/document-page.ts'
import { channelTicketRoutes, organizationTicketRoutes } from '../domain/lists/rest.ts'
import { paymentRoute } from '../domain/payment/rest.ts'
import { checkoutRoute } from '../domain/sale/checkout/checkout-rest.ts'
import { addPaymentPage } from '../domain/sale/payment-page/page.ts'
import { addProviderWebhook } from '../domain/sale/settle/provider-webhook-rest.ts'
import { lookupRoute } from '../domain/ticket/rest.ts'
import { eventListRoute, eventRoute } from '../domain/ticket-rate/events-rest.ts'
import type { Services } from '../request/context.ts'
import type { RateLimits } from '../request/rate-limits.ts'
import { addRoute } from '../rest/route.ts'

/** Authenticated routes of REST below the base path for channels. */
export const channelRoutes = [eventListRoute, eventRoute, paymentRoute, checkoutRoute, ...channelTicketRoutes]

/** Authenticated routes of REST below the base path for integrations. */
export const integrationRoutes = [...organizationTicketRoutes, lookupRoute, scanListRoute]

/** Adds the authenticated REST routes below their two base paths. */
export function addRoutes(
  app: FastifyInstance,
  services: Services,
  { channelsBasePath, integrationsBasePath }: Config,
): void {
  for (const route of channelRoutes) addRoute(app, services, channelsBasePath, route)
  for (const route of integrationRoutes) addRoute(app, services, integrationsBasePath, route)
}

/** Adds the routes that need no API key: the URL contains a secret token, or the request is signed. */
export async function addPublicRoutes(
  app: FastifyInstance,
  services: Services,
  limits: RateLimits,
): Promise<void> {
  await addPaymentPage(app, services, limits)
  await addDocumentPage(app, services, limits)
  await addProviderWebhook(app, services, limits)
}
