import { z } from 'zod'
import { hashIdempotency, nameInMode } from '../../../data/idempotency.ts'
import { type Context, requireIntegration } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { ownProvider } from '../../payment/provider.ts'
import { type Payment, paymentMethod } from '../../payment/table.ts'
import { checkoutInput } from '../checkout/checkout-input.ts'
import { planCheckout, refuseHigherTotal } from '../checkout/plan-checkout.ts'
import { type CheckoutAnswer, type CheckoutOrder, sellTickets } from '../checkout/sell-tickets.ts'
import type { Terms } from '../checkout/terms-loaders.ts'

/** Input of a sale at the box office: the fields of a checkout that a buyer at the door needs, and how the
 *  money was taken. */
export const boxOfficeInput = checkoutInput
  .pick({
    ticketRateId: true,
    tickets: true,
    language: true,
    discountCode: true,
    idempotencyKey: true,
  })
  .extend({
    expectedTotal: checkoutInput.shape.expectedTotal.describe(
      'Total that the buyer was told, in major units, such as 10.5 for €10.50. A higher total is refused, and nothing is sold.',
    ),
    method: z.enum(paymentMethod.enumValues).describe('Means by which the buyer has paid.'),
    reference: scalars
      .text(100)
      .nullish()
      .describe(
        'Reference of the payment, such as the number of a receipt: 1 to 100 characters. Not meant for personal data.',
      ),
  })
  .describe('Tickets of one rate that are sold at the box office.')

type BoxOfficeInput = z.output<typeof boxOfficeInput>

/** Sells tickets through the own channel of the integration's organization: they are paid at once. The same idempotency
 *  key and input return the first result for 24 hours. */
export async function sellThroughOwnChannel(
  saleType: 'box_office' | 'invitation',
  input: CheckoutOrder['input'],
  plan: CheckoutOrder['plan'],
  ctx: Context,
  taken: Partial<Pick<Payment, 'method' | 'methodReference'>> = {},
): Promise<CheckoutAnswer> {
  const { integrationId, organizationIds } = requireIntegration(ctx)
  const { idempotencyKey, ...request } = input
  const idempotency = hashIdempotency(nameInMode(ctx, integrationId), idempotencyKey, {
    saleType,
    ...request,
  })
  const seller = { channelId: organizationIds[0], mode: ctx.mode, saleType, provider: ownProvider, ...taken }
  return sellTickets({ input, idempotency, seller, plan }, ctx)
}

/** Sells tickets of one rate at the door of the integration's organization, all or none, paid at once by what
 *  the organization took itself. By the rules of a checkout, but until the event ends. A total above 0 has an
 *  invoice and a charge, which refunds by hand are taken from. Amounts in minor units.
 *  Refuses: FORBIDDEN, NOT_FOUND, whatever planCheckout and holdExactly refuse, SALE_ENDED if the event has
 *  ended, TOTAL_INCREASED, IDEMPOTENCY_KEY_REUSED, BUSY (DECISIONS 9). */
export async function sellAtBoxOffice(input: BoxOfficeInput, ctx: Context): Promise<CheckoutAnswer> {
  const plan = async (terms: Terms) =>
    refuseHigherTotal(await planCheckout(input, terms, ctx, 'box_office'), input.expectedTotal)
  const taken = { method: input.method, methodReference: input.reference ?? null }
  return sellThroughOwnChannel('box_office', input, plan, ctx, taken)
}
