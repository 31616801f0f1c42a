import type { Context } from '../../../request/context.ts'
import { type Terms, termsByTicketRateId } from './terms-loaders.ts'

/** Reads the terms of a checkout, which the request may have prefetched; null where there is no such rate, or none that
 *  the caller sees. */
export async function readTerms(ticketRateId: string, { loaders, caller }: Context): Promise<Terms | null> {
  const terms = await loaders.load(termsByTicketRateId, ticketRateId)
  return terms && caller?.organizationIds.includes(terms.rate.organizationId) ? terms : null
}
