import { and, getTableColumns } from 'drizzle-orm'
import { busy, Refusal } from '../../../engine/base/errors.ts'
import { readByIds } from '../../../engine/data/by-organization.ts'
import { fewRowsOf } from '../../../engine/data/json-rows.ts'
import { anyOf, inOrganization } from '../../../engine/data/query.ts'
import { isDuplicate, isTransient } from '../../../engine/database/database.ts'
import type { Context } from '../../caller/context.ts'
import { checkReplay, type Idempotency } from '../../caller/idempotency.ts'
import { findDiscount } from '../../discount/loaders.ts'
import { findPayment } from '../../payment/loaders.ts'
import { idempotencyKeys, isFresh } from '../../payment/table.ts'
import type { Counters } from '../../stock/table.ts'
import { leftOf } from '../../stock/table.ts'
import { findTicketsOf } from '../../ticket/loaders.ts'
import { organizationOfRate, priceById } from '../../ticket-rate/loaders.ts'
import type { Price } from '../../ticket-rate/table.ts'
import { expireHoldsBy, hasOverdueUses } from '../release/expire-holds.ts'
import type { Checkout, HoldJob } from './hold/hold-rows.ts'
import { holdTogether } from './hold/hold-together.ts'
import type { CheckoutPlan } from './plan-checkout.ts'
import { rateNotFound, readStock, readTerms, type Terms } from './terms-loaders.ts'

/** Checkout that a client receives. `replayed` if it was made by an earlier request under the same
 *  idempotency key. */
export type CheckoutAnswer = Checkout & { replayed: boolean }

/** Tickets of one rate to be sold. `plan` checks and prices them by the current terms, and is called again
 *  for each attempt. */
export type CheckoutOrder = Pick<HoldJob, 'input' | 'idempotency' | 'seller'> & {
  plan(terms: Terms): CheckoutPlan | Promise<CheckoutPlan>
  /** Number of tickets. */
  count: number
}

const findCompletedKey = readByIds('idempotency_keys', {
  rows: fewRowsOf(getTableColumns(idempotencyKeys)),
  query: (select, keys) =>
    select
      .from(idempotencyKeys)
      .where(and(inOrganization(idempotencyKeys.organizationId), anyOf(idempotencyKeys.id, keys), isFresh)),
})

// A channel that may not sell the rate any more still gets the answer of a checkout that it made before. Somebody
// else's rate takes the same statements as one that doesn't exist, so that their times tell nobody which exist.
async function replay(
  { id, requestHash }: Idempotency,
  terms: Terms | null,
  { ticketRateId }: CheckoutOrder['input'],
  { db, caller }: Context,
): Promise<CheckoutAnswer | null> {
  const organizationId = terms?.rate.organizationId ?? (await organizationOfRate.anew(db, ticketRateId)) ?? ''
  const found = await findCompletedKey(db, organizationId, id)
  const key = checkReplay(found, requestHash, 'This key was already used for another checkout.')
  if (!key) return null
  // Without permission checks: the key is the caller's own, as is what it made.
  const payment = await findPayment(db, organizationId, key.paymentId)
  if (!payment) throw new Error(`payment ${key.paymentId} of an idempotency key not found`)
  // A browser sees no tickets.
  const tickets = caller?.kind === 'publishable' ? [] : await findTicketsOf(db, payment)
  return { payment, tickets, replayed: true }
}

const isMore = (now: Counters, before: Counters) =>
  (leftOf(now) ?? Number.POSITIVE_INFINITY) > (leftOf(before) ?? Number.POSITIVE_INFINITY)

// Frees what overdue holds take up of what was refused: places of the rate or of prices, or uses of the discount, which
// holds of other rates have as well. The refusal is final if there were none, and nobody has freed any since its stock
// was read.
async function mayFitAfterExpiry(
  [reason]: Refusal['problems'],
  { rate, prices }: Terms,
  { count, input: { discountCode } }: CheckoutOrder,
  ctx: Context,
): Promise<boolean> {
  const { db, mode } = ctx
  const sale = { organizationId: rate.organizationId, mode, count }
  if (reason.code === 'SOLD_OUT' || reason.code === 'INSUFFICIENT_AVAILABILITY') {
    const current = await readStock[mode](db, rate.id)
    if (!current) return false
    const isShort = (counter: Counters) => (leftOf(counter) ?? count) < count
    const short = new Set(current.prices.filter(isShort).map(({ id }) => id))
    // If the rate is full, a place at any price will do.
    const keys = isShort(current.rate) ? current.overdueAt : current.overdueAt.filter((id) => short.has(id))
    if (keys.length > 0) await expireHoldsBy(db, 'priceId', { ...sale, keys })
    const isFreed = (price: Price) => prices.some((before) => before.id === price.id && isMore(price, before))
    // Even if another process was faster and this call expired nothing.
    return keys.length > 0 || isMore(current.rate, rate) || current.prices.some(isFreed)
  }
  if (reason.code !== 'DISCOUNT_USED_UP' || !discountCode) return false
  const discount = await findDiscount(ctx, rate.organizationId, discountCode)
  if (!discount) return false
  const isOverdue = await hasOverdueUses[mode](db, rate.organizationId, discount.id)
  if (isOverdue) await expireHoldsBy(db, 'discountId', { ...sale, keys: [discount.id] })
  return isOverdue || (leftOf(discount) ?? Number.POSITIVE_INFINITY) > Number(reason.facts?.available)
}

/** Tries an order once. Returns its answer, and the prices that its tickets were planned by; null if it should be
 *  retried: another one was faster, or overdue holds took up places. */
async function trySale(order: CheckoutOrder, ctx: Context) {
  const { input, idempotency, seller, plan: planTickets } = order
  const terms = await readTerms(input.ticketRateId, ctx)
  const replayed = idempotency && (await replay(idempotency, terms, input, ctx))
  if (replayed) return { answer: replayed, prices: [] }
  if (!terms) throw rateNotFound()
  try {
    const plan = await planTickets(terms)
    const { holdMinutes } = ctx.services
    const outcome = await holdTogether(ctx.db, { plan, input, idempotency, seller, holdMinutes })
    if (outcome.kind === 'refused') throw outcome.refusal
    if (outcome.kind !== 'held') return null
    const prices = plan.tickets.map(({ price }) => price)
    return { answer: { ...outcome.checkout, replayed: false }, prices }
  } catch (error) {
    if (isTransient(error) || isDuplicate(error)) return null
    if (error instanceof Refusal && (await mayFitAfterExpiry(error.problems, terms, order, ctx))) return null
    throw error
  }
}

const maxAttempts = 5

/** Plans an order, holds its stock and creates its payment, all tickets or none: the way that checkouts, sales
 *  at the box office and invitations share. The same idempotency key and request return the first result for
 *  24 hours. Refuses: NOT_FOUND, whatever the plan and holdExactly refuse, IDEMPOTENCY_KEY_REUSED, BUSY. */
export async function sellTickets(order: CheckoutOrder, ctx: Context): Promise<CheckoutAnswer> {
  for (let tried = 0; tried < maxAttempts; tried++) {
    const attempt = await trySale(order, ctx).finally(() => ctx.loaders.clear())
    if (!attempt) continue
    // The response shows the prices that the plan used, even if they have changed since.
    for (const price of attempt.prices) ctx.loaders.get(priceById).prime(price.id, price)
    return attempt.answer
  }
  throw busy('Too many checkouts at once. Try again.')
}
