import type { Context } from '../../../request/context.ts'
import { findTermsOf, type Terms } from './terms-loaders.ts'

/** What a checkout of a rate goes by, as it is now or, at the first look, as it was when its sender was let in; null
 *  where there is none, or none that the caller sees. */
export async function readTerms(ticketRateId: string, ctx: Context): Promise<Terms | null> {
  const { db, caller, terms: known } = ctx
  // Whoever looks again wants to see what has changed.
  ctx.terms = null
  // Also where it is known that there are none: else a rate that is not there would take longer than somebody else's.
  const terms = known?.ticketRateId === ticketRateId ? known.found : await findTermsOf(db, ticketRateId)
  return terms && caller?.organizationIds.includes(terms.rate.organizationId) ? terms : null
}
