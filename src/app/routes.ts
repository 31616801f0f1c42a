import type { FastifyInstance } from 'fastify'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { Config } from '../config/config.ts'
import { eventRoutes } from '../domain/catalogue/events-rest.ts'
import { checkoutRoutes } from '../domain/sale/checkout/checkout-rest.ts'
import { lookupRoutes } from '../domain/ticket/rest.ts'
import type { Services } from '../request/context.ts'

/** Adds the documented REST routes below their two base paths. */
export async function addRoutes(
  app: FastifyInstance,
  services: Services,
  responseCache: ResponseCache,
  config: Config,
): Promise<void> {
  await app.register(eventRoutes(services, responseCache), { prefix: config.channelsBasePath })
  await app.register(checkoutRoutes(services), { prefix: config.channelsBasePath })
  await app.register(lookupRoutes(services), { prefix: config.integrationsBasePath })
}
