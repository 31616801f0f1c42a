import type { FastifyInstance } from 'fastify'
import type { House } from './context.ts'
import { addDocumentPage } from './delivery/document-page.ts'
import { addProviderEvents } from './payment/events-rest.ts'
import { addPaymentPage } from './payment/page.ts'
import type { RateLimits } from './rate-limits.ts'

/** What is reached without a key: the addresses themselves entitle, or what is sent is signed. */
export async function addPages(app: FastifyInstance, house: House, limits: RateLimits): Promise<void> {
  await addPaymentPage(app, house, limits)
  await addDocumentPage(app, house, limits)
  await addProviderEvents(app, house, limits)
}
