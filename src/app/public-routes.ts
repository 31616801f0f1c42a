import type { FastifyInstance } from 'fastify'
import { addDocumentPage } from '../domain/delivery/document-page.ts'
import { addPaymentPage } from '../domain/sale/payment-page/page.ts'
import { addProviderEvents } from '../domain/sale/settle/provider-webhook-rest.ts'
import type { Services } from '../request/context.ts'
import type { RateLimits } from '../request/rate-limits.ts'

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
