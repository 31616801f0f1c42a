import { type Context, requireChannel } from '../../../request/context.ts'
import type { CheckoutInput } from './checkout-input.ts'
import { type CheckoutPlan, planCheckout } from './plan-checkout.ts'
import { readTerms } from './read-terms.ts'

/** Quotes a checkout by the same rules and prices as checkoutTickets, and holds nothing. Amounts in minor
 *  units.
 *  Refuses: FORBIDDEN, NOT_FOUND, and whatever planCheckout refuses. */
export async function quoteCheckout(input: CheckoutInput, ctx: Context): Promise<CheckoutPlan> {
  requireChannel(ctx)
  return planCheckout(input, await readTerms(input.ticketRateId, ctx), ctx)
}
