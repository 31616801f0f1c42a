import { type Problem, refuseIf } from '../../../engine/base/errors.ts'
import type { Caller } from '../../caller/caller.ts'
import { type Context, requireSelling } from '../../caller/context.ts'
import { includesOrigin } from '../../caller/credentials.ts'
import { hashRequest, nameInMode } from '../../caller/idempotency.ts'
import { problem } from '../../contract/problem-codes.ts'
import { providerOf } from '../../payment/open-provider.ts'
import { type CheckoutInput, inOneForm } from './checkout-input.ts'
import { type CheckoutPlan, planCheckout } from './plan-checkout.ts'
import { holdWithinLimit, withoutGuessing } from './public-limits.ts'
import { type CheckoutAnswer, type CheckoutOrder, sellTickets } from './sell-tickets.ts'
import { rateNotFound, readTerms } from './terms-loaders.ts'

type Public = Extract<Caller, { kind: 'publishable' }>

/** Checks what a browser may not choose in a checkout: the code of a ticket, which would tell which codes are
 *  taken, and a page of somebody else to send the buyer to. Refuses: INVALID (DECISIONS, keys). */
function checkPublicInput(input: CheckoutInput, { origins }: Public): void {
  const codes = input.tickets.flatMap(({ qrCode }, index): Problem[] =>
    qrCode
      ? [problem('INVALID', 'A publishable key chooses no code of a ticket.', ['tickets', index, 'qrCode'])]
      : [],
  )
  const addresses = (['redirectUrl', 'errorUrl'] as const).flatMap((name): Problem[] => {
    const url = input[name]
    if (!url || includesOrigin(new Set(origins), new URL(url).origin)) return []
    return [problem('INVALID', `${name} must be a page of an origin of the publishable key.`, [name])]
  })
  refuseIf([...codes, ...addresses])
}

/** Holds stock of one rate, prices its tickets and creates the payment. All tickets or none; a total of 0 is
 *  paid at once. The same idempotency key and input return the first result for 24 hours. Amounts in minor
 *  units.
 *  With a publishable key the answer has no tickets, because they bear persons and codes, and is refused for
 *  a code of the client's own and for addresses outside of the key's origins.
 *  Refuses: FORBIDDEN, NOT_FOUND, INVALID, whatever planCheckout and holdExactly refuse, IDEMPOTENCY_KEY_REUSED, BUSY;
 *  RATE_LIMITED for a publishable key (INTERFACE, checkout; DECISIONS, checkout; DECISIONS 145). */
export async function checkoutTickets(input: CheckoutInput, ctx: Context): Promise<CheckoutAnswer> {
  const caller = requireSelling(ctx)
  const { channelId, mode } = caller
  const isPublic = caller.kind === 'publishable'
  if (isPublic) checkPublicInput(input, caller)
  // Anybody has a publishable key, so nobody tests what it mails to strangers.
  const sendTickets = isPublic && mode === 'test' ? false : input.sendTickets
  const { idempotencyKey } = input
  // Browsers have idempotency keys of their own, so that none takes or tries those of the channel.
  const owner = nameInMode(ctx, isPublic ? `public ${channelId}` : channelId)
  const order: CheckoutOrder = {
    input: { ...input, sendTickets },
    idempotency: idempotencyKey ? hashRequest(owner, idempotencyKey, inOneForm(input)) : null,
    seller: { channelId, mode, saleType: 'online', provider: providerOf(ctx.services, ctx).name, isPublic },
    plan: (terms) => planCheckout(input, terms, ctx),
    count: input.tickets.length,
  }
  const answer = await withoutGuessing(input.discountCode, ctx, () =>
    holdWithinLimit(input.tickets.length, ctx, () => sellTickets(order, ctx)),
  )
  return isPublic ? { ...answer, tickets: [] } : answer
}

/** Quotes a checkout by the same rules and prices as checkoutTickets, and holds nothing. Amounts in minor units.
 *  Refuses: FORBIDDEN, NOT_FOUND, whatever planCheckout refuses; RATE_LIMITED for a publishable key. */
export async function quoteCheckout(input: CheckoutInput, ctx: Context): Promise<CheckoutPlan> {
  requireSelling(ctx)
  return withoutGuessing(input.discountCode, ctx, async () => {
    const terms = await readTerms(input.ticketRateId, ctx)
    if (!terms) throw rateNotFound()
    return planCheckout(input, terms, ctx, 'quote')
  })
}
