import type { Context } from '../../../request/context.ts'
import { type Terms, termsByTicketRateId } from './terms-loaders.ts'

/** Reads the terms of a rate, which the request may have prefetched. Null if there is no such rate, or the
 *  caller may not sell it. */
export async function readTerms(ticketRateId: string, { loaders, caller }: Context): Promise<Terms | null> {
  const terms = await loaders.load(termsByTicketRateId, ticketRateId)
  return terms && caller?.organizationIds.includes(terms.rate.organizationId) ? terms : null
}
