import { hashIdempotency } from '../../../data/idempotency.ts'
import { type Context, requireChannel } from '../../../request/context.ts'
import type { CheckoutInput } from './checkout-input.ts'
import { planCheckout, refuseHigherTotal } from './plan-checkout.ts'
import { type CheckoutAnswer, sellTickets } from './sell-tickets.ts'

/** Holds stock of one rate, prices its tickets and creates the payment. All tickets or none; a total of 0 is
 *  paid at once. The same idempotency key and input return the first result for 24 hours. Amounts in minor
 *  units.
 *  Refuses: FORBIDDEN, NOT_FOUND, whatever planCheckout and holdStock refuse, TOTAL_INCREASED,
 *  IDEMPOTENCY_KEY_REUSED, BUSY (INTERFACE, checkout; DECISIONS 4). */
export async function checkoutTickets(input: CheckoutInput, ctx: Context): Promise<CheckoutAnswer> {
  const { channelId } = requireChannel(ctx)
  const { idempotencyKey, ...request } = input
  return sellTickets(
    {
      input,
      idempotency: hashIdempotency(channelId, idempotencyKey, request),
      seller: { channelId, saleType: 'online', provider: ctx.services.provider.name },
      plan: async (terms) => refuseHigherTotal(await planCheckout(input, terms, ctx), input.expectedTotal),
    },
    ctx,
  )
}
