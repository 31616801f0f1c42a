import { type Context, requireIntegration } from '../../caller/context.ts'
import { hashIdempotency, nameInMode } from '../../caller/idempotency.ts'
import { ownProvider } from '../../payment/provider.ts'
import type { Payment } from '../../payment/table.ts'
import type { CheckoutInput } from '../checkout/checkout-input.ts'
import { planCheckout } from '../checkout/plan-checkout.ts'
import { type CheckoutAnswer, type CheckoutOrder, sellTickets } from '../checkout/sell-tickets.ts'
import type { Terms } from '../checkout/terms-loaders.ts'

type BoxOfficeInput = CheckoutInput & {
  method: NonNullable<Payment['method']>
  reference?: Payment['methodReference']
}

/** Sells tickets through the own channel of the integration's organization: they are paid at once. The same idempotency
 *  key and input return the first result for 24 hours. */
export async function sellThroughOwnChannel(
  saleType: 'box_office' | 'invitation',
  input: CheckoutOrder['input'],
  tickets: Pick<CheckoutOrder, 'plan' | 'count'>,
  ctx: Context,
  taken: Partial<Pick<Payment, 'method' | 'methodReference'>> = {},
): Promise<CheckoutAnswer> {
  const { integrationId, organizationIds } = requireIntegration(ctx)
  const { idempotencyKey, ...request } = input
  const owner = nameInMode(ctx, integrationId)
  const idempotency = hashIdempotency(owner, idempotencyKey, { saleType, ...request })
  const seller = { channelId: organizationIds[0], mode: ctx.mode, saleType, provider: ownProvider, ...taken }
  return sellTickets({ input, idempotency, seller, ...tickets }, ctx)
}

/** Sells tickets of one rate at the door of the integration's organization, all or none, paid at once by what
 *  the organization took itself. By the rules of a checkout, but until the event ends. A total above 0 has an
 *  invoice and a charge, which refunds by hand are taken from. Amounts in minor units.
 *  Refuses: FORBIDDEN, NOT_FOUND, whatever planCheckout and holdExactly refuse, SALE_ENDED if the event has
 *  ended, IDEMPOTENCY_KEY_REUSED, BUSY (DECISIONS, sales at the door and invitations). */
export async function sellAtBoxOffice(input: BoxOfficeInput, ctx: Context): Promise<CheckoutAnswer> {
  const plan = (terms: Terms) => planCheckout(input, terms, ctx, 'box_office')
  const taken = { method: input.method, methodReference: input.reference ?? null }
  return sellThroughOwnChannel('box_office', input, { plan, count: input.tickets.length }, ctx, taken)
}
