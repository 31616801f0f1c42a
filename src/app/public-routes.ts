import type { FastifyInstance } from 'fastify'
import { addDocumentPage } from '../domain/delivery/document-page.ts'
import { addPaymentPage } from '../domain/sale/payment-page/page.ts'
import { addProviderEvents } from '../domain/sale/settle/provider-webhook-rest.ts'
import type { House } from '../request/context.ts'
import type { RateLimits } from './rate-limits.ts'

/** What is reached without a key: the addresses themselves entitle, or what is sent is signed. */
export async function addPages(app: FastifyInstance, house: House, limits: RateLimits): Promise<void> {
  await addPaymentPage(app, house, limits)
  await addDocumentPage(app, house, limits)
  await addProviderEvents(app, house, limits)
}
