import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import type { House } from './context.ts'
import { eventRoutes } from './event/rest.ts'
import type { SharedReads } from './shared-reads.ts'
import { checkoutRoutes, lookupRoutes } from './ticket/rest.ts'

/** The documented paths, below their two base addresses. */
export async function addRoutes(
  app: FastifyInstance,
  house: House,
  sharedReads: SharedReads,
  config: Config,
): Promise<void> {
  await app.register(eventRoutes(house, sharedReads), { prefix: config.channelsBasePath })
  await app.register(checkoutRoutes(house), { prefix: config.channelsBasePath })
  await app.register(lookupRoutes(house), { prefix: config.integrationsBasePath })
}
