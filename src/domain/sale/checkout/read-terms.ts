import type { Context } from '../../../request/context.ts'
import { loadTerms, type Terms } from './terms-loaders.ts'

/** Reads the terms of a rate, or takes those that were prefetched with the caller's authentication, on the
 *  first call. Null if there is no such rate, or the caller may not sell it. */
export async function readTerms(ticketRateId: string, ctx: Context): Promise<Terms | null> {
  const { db, caller, terms: prefetched } = ctx
  // A retry needs fresh terms.
  ctx.terms = null
  // Uses a prefetched null, too: a missing rate must not take longer to refuse than another organization's.
  const terms =
    prefetched?.ticketRateId === ticketRateId ? prefetched.found : await loadTerms(db, ticketRateId)
  return terms && caller?.organizationIds.includes(terms.rate.organizationId) ? terms : null
}
